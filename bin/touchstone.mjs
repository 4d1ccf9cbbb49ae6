#!/usr/bin/env node
// The command. In a clone it first installs and builds what is missing or stale; a package has nothing to build.
import { existsSync } from 'node:fs'

const setup = new URL('../scripts/setup.mjs', import.meta.url)
if (existsSync(setup)) await import(setup.href)
await import('../dist/main/touchstone.js')
