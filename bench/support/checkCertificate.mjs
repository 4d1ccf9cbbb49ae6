// Checks a certificate in this thread with the engine that TOUCHSTONE_ENGINE names, and says how many seconds of processor
// time that took: node bench/support/checkCertificate.mjs FILE. Loading Node and its modules is not counted.
import { readFileSync } from 'node:fs'
import { withFastYes } from '../../dist/core/bytes/ed25519.js'
import { takeApart } from '../../dist/core/certificate/envelope.js'
import { openEvidence } from '../../dist/core/certificate/readEvidence.js'
import { createEngine } from '../../dist/core/engine/createEngine.js'
import { verifyAllOpenings } from '../../dist/core/proof/openingRanges.js'
import { chooseKernels, openNativeEngine } from '../../dist/drivers/system/chooseKernels.js'
import { kernelPath } from '../../dist/drivers/system/kernelFiles.js'
import { opensslCheck } from '../../dist/drivers/system/nativeSigner.js'

const before = process.cpuUsage()
const native = await chooseKernels()
const engine = native ? await openNativeEngine(native) : await createEngine(readFileSync(kernelPath('engine.wasm')))
const { read } = openEvidence(takeApart(readFileSync(process.argv[2])), () => true, withFastYes(opensslCheck))
const { run } = read
const reason = verifyAllOpenings(run, engine)
if (reason) throw new Error(`an honest opening was refused: ${JSON.stringify(reason)}`)
const { user, system } = process.cpuUsage(before)
process.stdout.write(`${(user + system) / 1e6}`)
