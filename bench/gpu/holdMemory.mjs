#!/usr/bin/env node
// Holds all of the first card's free memory but so many GiB until its input ends: node bench/gpu/holdMemory.mjs GIB
import { loadLibcuda } from '../../dist/drivers/gpu/cuda/loadLibcuda.js'

const left = Number(process.argv[2]) * 2 ** 30
const driver = loadLibcuda()
driver.openContext(0, 'shared')
const { freeBytes } = driver.freeMemory()
if (freeBytes > left) driver.allocate(freeBytes - left)
console.log('held')
process.stdin.resume().once('end', () => process.exit())
