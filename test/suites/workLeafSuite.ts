import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { serveWork } from '../../src/apps/work/serveWork.ts'
import { encodeFrame, FrameDecoder } from '../../src/core/wire/frames.ts'
import { WORK_ANSWER_TYPES, type WorkAnswer } from '../../src/core/wire/messages.ts'
import { openCpuWork, openExactEngine, openFieldEngine } from '../../src/drivers/gpu/cpu/work/openCpuWork.ts'
import { encodeNpy } from '../../src/drivers/workFiles/npy.ts'
import * as boxes from '../../src/main/boxes/openBox.ts'
import { addWorkCommand } from '../../src/main/work/workCommand.ts'
import { openInProcessBox, type ProverProgram } from '../support/inProcessBox.ts'
import { bytesFrom } from '../support/plainProduct.ts'
import { runCommand } from '../support/runCommand.ts'
import { seededRandomness } from '../support/seededRandomness.ts'
import { testSigner } from '../support/testSigner.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-leaves-'))
const at = (name: string): string => join(folder, name)

const WASM = { environment: { TOUCHSTONE_ENGINE: 'wasm' } }
type Change = (answer: WorkAnswer, index: number) => WorkAnswer

/** Our own prover, of whose answers some are changed on their way. */
const saying =
  (change: Change): ProverProgram =>
  async ({ input, write }) => {
    const sent = new FrameDecoder(WORK_ANSWER_TYPES)
    let index = 0
    const changed = async (bytes: Uint8Array) => {
      for (const answer of sent.push(bytes) as Iterable<WorkAnswer>) await write(encodeFrame(change(answer, index++)))
    }
    const device = await openCpuWork(WASM)
    const engines = { openField: () => openFieldEngine(WASM), openExact: () => openExactEngine(WASM) }
    const [signer, randomness] = [testSigner(7), seededRandomness(3)]
    await serveWork({ device, signer, randomness, ...engines, input, write: changed })
  }

const home = {
  env: { ...process.env, TOUCHSTONE_HOME: at('home'), NO_COLOR: '1' },
  nowMs: Date.parse('2026-11-16T00:00:00Z'),
  adders: [addWorkCommand],
}

/** What `work run` says of a product on such a box, without how long it took, and what it wrote. */
async function said(method: string, change: Change) {
  rmSync(at('c.npy'), { force: true })
  const opened = vi.spyOn(boxes, 'openBox').mockImplementation(async () => openInProcessBox(saying(change)))
  vi.stubEnv('TOUCHSTONE_ENGINE', 'wasm')
  const files = { out: [at('c.npy')], receipt: [at('c.receipt')] }
  try {
    const { exit, stdout } = await runCommand(
      ['work', 'run', 'matmul', at('a'), at('b')],
      { method: [method], ...files },
      home,
    )
    const text = stdout.replace(/\s+/g, ' ').replace(/[\d.]+ s from the seed/, 'from the seed')
    return { exit, text, result: exit === 0 ? readFileSync(at('c.npy'), 'latin1') : null }
  } finally {
    vi.unstubAllEnvs()
    opened.mockRestore()
  }
}

/** Fields of what a box says while it does a work: another value is no yes, or is told as its own, or is seen nowhere. */
const PLACES: Readonly<Record<string, 'counted' | 'told' | 'unseen'>> = {
  'greeted.key': 'counted',
  'greeted.device': 'told',
  // Asked only where steps are to be proven.
  'accepted.provesSteps': 'unseen',
  'mark.segment': 'counted',
  'mark.root': 'counted',
  'mark.statistics': 'counted',
  'piece.segment': 'counted',
  'piece.tensor': 'counted',
  'piece.bytes': 'counted',
  'executed.signature': 'counted',
  'traced.segment': 'counted',
  'traced.roots': 'counted',
  'patch.segment': 'counted',
  'patch.index': 'counted',
  'patch.leafBytes': 'counted',
  'patch.bytes': 'counted',
  'proven.proof': 'counted',
}
const TOLD = /(?<= device claimed: )"[^"]*"/

function otherValues(value: unknown): readonly unknown[] {
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'number') return [value + 1, 2 ** 32 - 1]
  const bytes = value as Uint8Array
  return bytes.length === 0
    ? [new Uint8Array(4)]
    : [
        bytes.map((byte, i) => (i === bytes.length - 1 ? byte ^ 1 : byte)),
        new TextEncoder().encode('WORK SHOWN "x"\n   H100'),
      ]
}

/** Products by these methods, on a box whose every message is changed, field by field. */
export function workLeafSuite(methods: readonly string[]): void {
  beforeAll(() => {
    for (const name of ['a', 'b'])
      writeFileSync(at(name), encodeNpy({ type: 'i8', rows: 8, width: 8, bytes: bytesFrom(name, 64) }))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each(methods)('whatever a box says that makes a product by %s has its place', async (method) => {
    const answers: WorkAnswer[] = []
    const honest = await said(method, (answer) => {
      answers.push(answer)
      return answer
    })
    expect(honest).toMatchObject({ exit: 0, text: expect.stringMatching(TOLD) })
    const isFirst = ({ type }: WorkAnswer, i: number) => answers.findIndex((answer) => answer.type === type) === i
    const wrong: string[] = []
    for (const [index, { type, ...fields }] of answers.entries())
      for (const [field, value] of isFirst(answers[index]!, index) ? Object.entries(fields) : []) {
        const name = `${type}.${field}`
        const place = PLACES[name]
        if (place === undefined) wrong.push(`${name} has no place`)
        for (const other of otherValues(value)) {
          const { exit, text, result } = await said(method, (answer, i) =>
            i === index ? ({ ...answer, [field]: other } as WorkAnswer) : answer,
          )
          if (exit !== 0) continue
          const [now, before] = [text, honest.text].map((words) => (place === 'told' ? words.replace(TOLD, '') : words))
          if (place === 'counted' || now !== before || result !== honest.result) wrong.push(`${name} = ${other}`)
        }
      }
    expect(wrong).toEqual([])
  })
}
