import { expect } from 'vitest'
import { concatBytes, u32le } from '../../src/core/bytes/bytes.ts'
import { encodeFrame } from '../../src/core/wire/frames.ts'
import { CODECS } from '../../src/core/wire/messages.ts'
import { honestProgram, type ProverProgram, tampered } from '../support/inProcessBox.ts'
import { testSigner } from '../support/testSigner.ts'
import { type BoxCheat, type CheatKit, honestDevices } from './cheat.ts'

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

/** Says these bytes to the first order, and nothing more. */
const says =
  (bytes: Uint8Array): ((kit: CheatKit) => ProverProgram) =>
  () =>
  async ({ input, write }) => {
    for await (const _ of input) {
      await write(bytes)
      return await new Promise(() => {})
    }
  }

/** An honest prover whose first root is replaced by these bytes, and its other roots by `later`. */
const inTheRun =
  (bytes: Uint8Array, later = bytes) =>
  (kit: CheatKit): ProverProgram =>
    tampered(honestProgram({ devices: honestDevices(kit) }), {
      onAnswer: (answer, line) =>
        answer.type === 'root' ? line.raw(answer.index === 0 ? bytes : later) : line.answer(answer),
    })

/** An honest prover with an inventory of the cheater's own bytes. */
const inventoryOf =
  (json: string | Uint8Array) =>
  (kit: CheatKit): ProverProgram =>
    tampered(honestProgram({ devices: honestDevices(kit) }), {
      onAnswer: (answer, line) =>
        line.answer(
          answer.type === 'inventory' ? { ...answer, inventory: typeof json === 'string' ? text(json) : json } : answer,
        ),
    })

const device = (more: string, name = 'x'): string =>
  `{"program":"p","devices":[{"class":"cpu","backEnd":"cpu","name":${JSON.stringify(name)},"memoryBytes":1,"freeBytes":1,"precisions":["int8"],"details":{}${more}}],"host":{}}`

const frame = (id: number, length: number, body: Uint8Array): Uint8Array =>
  concatBytes(u32le(length), Uint8Array.of(id), body)

/** A pickle that runs `os.system` where it is loaded. */
const PICKLE = text("cos\nsystem\n(S'touch pwned'\ntR.")

const half = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length >> 1)
const root = encodeFrame({ type: 'root', part: 0, device: 0, index: 0, root: new Uint8Array(32) })
const welcome = encodeFrame({ type: 'welcome', key: testSigner(7).publicKey })

const inventories: readonly (readonly [name: string, json: string | Uint8Array])[] = [
  ['code in data', PICKLE],
  ['terminal escapes', device('', '\u001b]0;owned\u0007\u001b[2J')],
  ['line breaks', device('', 'a\nGENUINE')],
  ['__proto__', device(',"__proto__":{"polluted":true}')],
  ['__proto__ in details', device('').replace('"details":{}', '"details":{"__proto__":{"polluted":true}}')],
  ['constructor in details', device('').replace('"details":{}', '"details":{"constructor":"x"}')],
  ['the size of the check', device(',"n":1')],
  ['NaN', device('').replace('"memoryBytes":1', '"memoryBytes":NaN')],
  ['infinity', device('').replace('"memoryBytes":1', '"memoryBytes":1e999')],
  ['a negative size', device('').replace('"memoryBytes":1', '"memoryBytes":-1')],
  ['half a byte', device('').replace('"memoryBytes":1', '"memoryBytes":0.5')],
  ['wrong types', device('').replace('"devices":[', '"devices":"eight","x":[')],
  ['a number for a name', device('').replace('"name":"x"', '"name":7')],
  ['depth', '['.repeat(65_000)],
  ['depth that closes', '['.repeat(32_000) + ']'.repeat(32_000)],
  ['depth of objects', '{"a":'.repeat(13_000)],
  ['a long name', device('', 'n'.repeat(10_000))],
  ['33 devices', device('').replace(/"devices":\[(.*)\]/, (_, one) => `"devices":[${Array(33).fill(one).join(',')}]`)],
  ['no device', device('').replace(/"devices":\[.*\]/, '"devices":[]')],
  ['bytes that are no text', Uint8Array.of(0xff, 0xfe, 0x80)],
]

const bytesInTheRun: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ['a line of text', text('all tests passed, 8 GPUs, 2000 TFLOPS\n')],
  ['code in data', PICKLE],
  ['a frame of 4 GB', frame(68, 0xffffffff, new Uint8Array(0))],
  ['a frame of no bytes', frame(68, 0, new Uint8Array(0))],
  ['a root one byte too long', frame(68, 46, new Uint8Array(45))],
  ['a root one byte too short', frame(68, 44, new Uint8Array(43))],
  ['an unknown type', frame(200, 1, new Uint8Array(0))],
  ['an order', encodeFrame({ type: 'finish' })],
  ['an opening beyond the limit', frame(69, CODECS.opened.limit + 2, new Uint8Array(0))],
  ['a fault without a code', frame(72, 4, text('\u001b[2'))],
]

/** Cheats with bytes: what arrives is no message, or a message that carries something else. */
export const BYTE_CHEATS: readonly BoxCheat[] = [
  ...inventories.map(
    ([name, json]): BoxCheat => ({
      attack: name === 'the size of the check' ? 2 : 12,
      name: `inventory with ${name}`,
      how: 'in the inventory',
      expected: 'BAD_INVENTORY',
      program: inventoryOf(json),
    }),
  ),
  ...bytesInTheRun.map(
    ([name, bytes]): BoxCheat => ({
      attack: name === 'a line of text' ? 5 : 12,
      name: `${name} in the run`,
      how: 'instead of the first root',
      expected: 'MALFORMED_MESSAGE',
      program: inTheRun(bytes),
    }),
  ),
  ...[
    ['a line of text', text('Welcome to Ubuntu\n')],
    ['half a welcome and silence', half(welcome)],
    ['a welcome of another version', frame(65, welcome.length - 4, concatBytes(Uint8Array.of(1), welcome.subarray(6)))],
    ['a frame of 4 GB', frame(65, 0xffffffff, new Uint8Array(0))],
    ['a result', encodeFrame({ type: 'result', signature: new Uint8Array(64) })],
  ].map(
    ([name, bytes]): BoxCheat => ({
      attack: 12,
      name: `${name as string} before the run`,
      how: 'to the first order',
      expected: 'PROVER_NOT_READY',
      program: says(bytes as Uint8Array),
    }),
  ),
  {
    attack: 12,
    name: 'half a root and silence',
    how: 'in the run',
    expected: 'LATE_ROOT',
    program: inTheRun(half(root), new Uint8Array(0)),
  },
  {
    attack: 12,
    name: 'half an opening and silence',
    how: 'the clock of the openings runs on',
    expected: 'LATE_OPENING',
    program: (kit) =>
      tampered(honestProgram({ devices: honestDevices(kit) }), {
        onAnswer: (answer, line) =>
          answer.type === 'opened' ? line.raw(half(encodeFrame(answer))) : line.answer(answer),
      }),
  },
  {
    attack: 12,
    name: 'a shell string for a name',
    how: 'a claim is text and nothing else',
    expected: 'ACCEPTED',
    program: inventoryOf(device('', '$(touch pwned); `id` | sh && curl x')),
    check: ({ inventory, judgement }) => {
      expect(inventory.devices[0]!.name).toContain('$(touch pwned)')
      expect(JSON.stringify(judgement)).not.toContain('pwned')
    },
  },
  {
    attack: 12,
    name: 'telemetry that is no JSON',
    how: 'between the roots',
    expected: 'ACCEPTED',
    program: (kit) =>
      tampered(honestProgram({ devices: honestDevices(kit) }), {
        onAnswer: async (answer, line) => {
          await line.answer({ type: 'telemetry', device: 0, sample: PICKLE })
          await line.answer({ type: 'telemetry', device: 2 ** 32 - 1, sample: text('{"t":"\\u001b[2J"}') })
          await line.answer(answer)
        },
      }),
    check: ({ certificate }) => expect(certificate).not.toContain('\u001b'),
  },
]
