import type { AskProcessor } from '../../src/apps/prover/challengeRun.ts'
import { serveProver } from '../../src/apps/prover/serveProver.ts'
import type { Signer } from '../../src/core/bytes/ed25519.ts'
import type { OwnInventory } from '../../src/core/inventory/inventory.ts'
import { encodeFrame, FrameDecoder } from '../../src/core/wire/frames.ts'
import { ANSWERS, type Answer, ORDERS, type Order } from '../../src/core/wire/messages.ts'
import type { Device } from '../../src/ports/device.ts'
import type { HostLanes } from '../../src/ports/hostLanes.ts'
import type { ProverProcess, RemoteBox } from '../../src/ports/remoteBox.ts'
import { BytePipe } from './bytePipe.ts'
import { freshSigner, testSigner } from './testSigner.ts'

/** The standard streams of a program on a box. */
export interface ProgramIo {
  readonly input: AsyncIterable<Uint8Array>
  write(bytes: Uint8Array): Promise<void>
}

/** What runs on a box: ours, or whatever a cheater put there instead. When it returns, the process has ended. */
export type ProverProgram = (io: ProgramIo, signal: AbortSignal) => Promise<void>

export interface HonestOptions {
  readonly devices: readonly Device[]
  readonly signer?: Signer
  readonly inventory?: Partial<OwnInventory>
  readonly host?: HostLanes
  readonly askProcessor?: AskProcessor
  readonly onOpen?: () => void
}

const inventoryOf = (devices: readonly Device[]): OwnInventory => ({
  program: 'touchstone prover',
  devices: devices.map(({ facts }) => ({ ...facts, precisions: [...facts.precisions] })),
  host: {},
})

/** Our own prover with the given devices; with cheating devices it is the cheater's only change. */
export function honestProgram(options: HonestOptions): ProverProgram {
  const { devices, signer = testSigner(7), inventory = {}, onOpen = () => {}, ...rest } = options
  const open = async () => {
    onOpen()
    return { devices, inventory: { ...inventoryOf(devices), ...inventory } }
  }
  const deps = { ...rest, signer, open }
  return ({ input, write }, signal) => serveProver({ ...deps, input, write }, signal)
}

/** The same on a machine of its own, which has a key of its own. */
export const ownMachine = (options: HonestOptions): ProverProgram =>
  honestProgram({ signer: freshSigner(), ...options })

/** What a hook on the line can do with a message: pass it on, change it, send others, raw bytes, or nothing. */
export interface Line {
  answer(answer: Answer): Promise<void>
  raw(bytes: Uint8Array): Promise<void>
  order(order: Order): Promise<void>
  /** The process ends at once. */
  hangUp(): void
}

export interface Tampering {
  onAnswer?(answer: Answer, line: Line): Promise<void>
  onOrder?(order: Order, line: Line): Promise<void>
}

/** A program between the validator and another program, with a hand on every message both ways. */
export function tampered(program: ProverProgram, tampering: Tampering): ProverProgram {
  return async ({ input, write }, signal) => {
    const inner = new BytePipe()
    const stopped = new AbortController()
    const either = AbortSignal.any([signal, stopped.signal])
    const line: Line = {
      answer: (answer) => write(encodeFrame(answer)),
      raw: write,
      order: (order) => inner.write(encodeFrame(order)),
      hangUp: () => stopped.abort(),
    }
    const outward = new FrameDecoder(ANSWERS)
    let turn: Promise<void> = Promise.resolve()
    const answered = (bytes: Uint8Array) => {
      for (const message of outward.push(bytes))
        turn = turn.then(() => (tampering.onAnswer ?? line.answer)(message as Answer, line)).catch(() => line.hangUp())
      return turn
    }
    const orders = async () => {
      const inward = new FrameDecoder(ORDERS)
      for await (const chunk of input)
        for (const message of inward.push(chunk)) await (tampering.onOrder ?? line.order)(message as Order, line)
      inner.end()
    }
    const hungUp = new Promise<void>((resolve) => either.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([Promise.all([orders(), program({ input: inner, write: answered }, either)]), hungUp])
  }
}

export interface InProcessBoxOptions {
  readonly address?: string
  /** Cuts what the program writes into pieces of this many bytes. */
  readonly chunkBytes?: number
}

/** A machine inside this process. */
export function openInProcessBox(
  program: ProverProgram,
  { address = 'in process', chunkBytes }: InProcessBoxOptions = {},
): RemoteBox {
  const running = new Set<ProverProcess>()
  return {
    address,
    access: {},
    install: async () => {},
    start: async (signal) => {
      const prover = start(program, chunkBytes ?? Number.POSITIVE_INFINITY, signal)
      running.add(prover)
      return prover
    },
    close: async () => {
      await Promise.all([...running].map((prover) => prover.stop()))
    },
  }
}

function start(program: ProverProgram, chunkBytes: number, outer: AbortSignal): ProverProcess {
  const stopped = new AbortController()
  const signal = AbortSignal.any([outer, stopped.signal])
  const input = new BytePipe()
  const output = new BytePipe()
  const write = async (bytes: Uint8Array) => {
    // All pieces at once: two messages written at the same time must not mix.
    const size = Math.min(chunkBytes, bytes.length)
    const count = Math.ceil(bytes.length / size)
    await Promise.all(Array.from({ length: count }, (_, i) => output.write(bytes.subarray(i * size, (i + 1) * size))))
  }
  // A program that does not listen is killed, as a process would be.
  const killed = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  const ended = Promise.race([program({ input, write }, signal).catch(() => {}), killed]).then(() => {
    input.end()
    output.end()
    return { code: 0, lost: false, said: '' }
  })
  return {
    write: (bytes) => input.write(bytes),
    output,
    ended,
    stop: async () => {
      input.end()
      output.end()
      stopped.abort()
      await ended
    },
  }
}
