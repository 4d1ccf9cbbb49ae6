import { serveWork } from '../../src/apps/work/serveWork.ts'
import type { Signer } from '../../src/core/bytes/ed25519.ts'
import { encodeFrame, FrameDecoder } from '../../src/core/wire/frames.ts'
import { WORK_ANSWER_TYPES, type WorkAnswer } from '../../src/core/wire/messages.ts'
import { openCpuWork, openExactEngine, openFieldEngine } from '../../src/drivers/gpu/cpu/work/openCpuWork.ts'
import type { WorkDevice, WorkRun } from '../../src/ports/workDevice.ts'
import type { ProverProgram } from './inProcessBox.ts'
import { seededRandomness } from './seededRandomness.ts'
import { testSigner } from './testSigner.ts'

/** It takes little memory. */
export const WASM = { environment: { TOUCHSTONE_ENGINE: 'wasm' } }

/** Our own prover of works; `cheat` changes what its device does. */
export const workProgram =
  (
    cheat: (run: WorkRun) => Partial<WorkRun> = () => ({}),
    signer: Signer = testSigner(7),
    begin: WorkDevice['start'] = async (asked, inputs) => (await openCpuWork(WASM)).start(asked, inputs),
  ): ProverProgram =>
  async ({ input, write }) => {
    const device = await openCpuWork(WASM)
    const start: WorkDevice['start'] = async (asked, inputs) => {
      const run = await begin(asked, inputs)
      return { ...run, ...cheat(run) }
    }
    const engines = { openField: () => openFieldEngine(WASM), openExact: () => openExactEngine(WASM) }
    const own = { device: { ...device, start }, signer, randomness: seededRandomness(3) }
    return serveWork({ ...own, ...engines, input, write })
  }

/** A prover whose answers are changed on their way. */
export const saying =
  (change: (answer: WorkAnswer) => readonly WorkAnswer[], prover = workProgram()): ProverProgram =>
  ({ input, write }, signal) => {
    const sent = new FrameDecoder(WORK_ANSWER_TYPES)
    const changed = async (bytes: Uint8Array) => {
      for (const answer of sent.push(bytes) as Iterable<WorkAnswer>)
        for (const said of change(answer)) await write(encodeFrame(said))
    }
    return prover({ input, write: changed }, signal)
  }
