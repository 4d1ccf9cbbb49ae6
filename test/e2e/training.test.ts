import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { checkReportSchema } from '../../src/core/certificate/reportSchemas.ts'
import { decodeSafetensors, encodeSafetensors, storedTensors } from '../../src/drivers/workFiles/safetensorsFile.ts'
import { otherInput } from '../../src/main/work/results/givenInputs.ts'
import { ownFiles } from '../../src/main/work/results/ownFiles.ts'
import { trainingResult } from '../../src/main/work/results/trainingResult.ts'
import { changeByte } from '../support/changeByte.ts'
import { openHome } from '../support/commandLine.ts'
import { givenResult } from '../support/givenResult.ts'

const { inFolder, touchstone } = openHome()

function storedIn(name: string) {
  const file = readFileSync(name)
  const held = decodeSafetensors(file)
  return storedTensors(file).map(({ name: tensor, dims }) => ({ name: tensor, dims, bytes: held.get(tensor)! }))
}

test('touchstone work run train delivers weights, and a receipt whose every byte counts', async () => {
  writeFileSync(inFolder('text'), 'what is written once is written once more. '.repeat(40))
  const small = ['--layers', '1', '--width', '16', '--heads', '2', '--tokens', '16', '--sequences', '2', '--steps', '3']
  const files = ['--out', inFolder('model.safetensors'), '--receipt', inFolder('trained.json')]
  const { status, stdout } = await touchstone('work', 'run', 'train', inFolder('text'), ...small, ...files)
  expect(status).toBe(0)
  expect(stdout).toMatch(/ {2}loss +\d\.\d{4} first \(told\), \d\.\d{4} last \(told\)/)
  // Without the inputs nobody can tell which weights are right.
  expect(stdout).toMatch(new RegExp(`check ${inFolder('trained.json')}\n +which shows that work was done`))
  expect(storedIn(inFolder('model.safetensors')).map(({ name }) => name)).toContain('embed')
  const receipt = readFileSync(inFolder('trained.json'))
  const checked = await touchstone('check', inFolder('trained.json'))
  expect(checked.status).toBe(0)
  expect(checked.stdout.replace(/\s+/g, ' ')).toContain('model.heads 2, ')
  expect(checked.stdout.replace(/\s+/g, ' ')).toMatch(/ patches of the first state and [123] of 3 segments /)
  const line = receipt.indexOf('\n') + 1
  const changed = (at: number) => receipt.map((byte, i) => (i === at ? byte ^ 1 : byte))
  // Another letter of base64: a bit changed in one may be none.
  const otherLetter = (at: number) => receipt.map((byte, i) => (i !== at ? byte : byte === 65 ? 66 : 65))
  for (const [other, code] of [
    [otherLetter(line - 20), 'BAD_SIGNATURE'],
    [changed(line), 'OTHER_EVIDENCE'],
    [changed(receipt.length - 1), 'OTHER_EVIDENCE'],
    [receipt.subarray(0, -1), 'TRUNCATED'],
    [Buffer.concat([receipt, Buffer.from('\n')]), 'OTHER_EVIDENCE'],
    [Buffer.from(receipt.toString('utf8')), 'OTHER_EVIDENCE'],
  ] as const) {
    writeFileSync(inFolder('other.json'), other)
    const refused = await touchstone('check', inFolder('other.json'), '--json')
    expect([refused.status, JSON.parse(refused.stdout).problem.code]).toEqual([1, code])
  }
})

test('touchstone work run train --method sumcheck proves two steps besides; what cannot be proven is not begun', async () => {
  writeFileSync(inFolder('words'), 'what is proven once is proven once more. '.repeat(40))
  const small = ['--layers', '1', '--width', '16', '--heads', '2', '--tokens', '16', '--steps', '3']
  const files = ['--out', inFolder('proven.safetensors'), '--receipt', inFolder('steps.receipt')]
  const words = ['work', 'run', 'train', inFolder('words'), ...small, ...files, '--method', 'sumcheck']
  const run = await touchstone(...words, '--sequences', '2', '--inputs', inFolder('steps'))
  expect(run.stdout.replace(/\s+/g, ' ')).toMatch(/transitions \d and \d by sumcheck, products that are sums/)
  expect(run.status).toBe(0)
  const check = (...more: string[]) => touchstone('check', inFolder('steps.receipt'), ...more)
  const { status, stdout } = await check(
    '--json',
    ...['--replay', inFolder('steps'), '--given', inFolder('words')],
    ...['--result', inFolder('proven.safetensors')],
  )
  const report = checkReportSchema.parse(JSON.parse(stdout))
  expect(report).toMatchObject({
    ...{ kind: 'receipt', verdict: 'genuine', resultTied: true },
    work: { drawnBy: 'listener', segments: 3, replayed: 3, proven: { products: 'shared' } },
  })
  expect(report.kind === 'receipt' && report.work.proven?.log2Error).toBeLessThan(-100)
  expect(status).toBe(0)
  // Attack 444: a loss is shown by whoever ran the work again.
  const replayed = await check('--replay', inFolder('steps'))
  expect(replayed.stdout).toMatch(/ {2}loss +\d\.\d{4} first \(shown\), \d\.\d{4} last \(shown\)/)
  changeByte(inFolder('steps.receipt'), -1)
  const changed = await check('--json')
  expect([changed.status, JSON.parse(changed.stdout).problem.code]).toEqual([1, 'OTHER_EVIDENCE'])
  const shards = await touchstone(...words, '--sequences', '4', '--shards', '2')
  expect([shards.status, shards.stderr]).toEqual([2, expect.stringContaining('[NOT_PROVABLE]')])
  const unused = await touchstone('work', 'run', 'train', inFolder('words'), '--products', 'all')
  expect([unused.status, unused.stderr]).toEqual([2, expect.stringContaining('without --method sumcheck')])
})

test('weights are those of the receipt by their roots; another model, or one without roots, is not taken for it', async () => {
  const [receipt, model] = [inFolder('trained.json'), inFolder('model.safetensors')]
  const check = (file: string) => touchstone('check', receipt, '--given', inFolder('text'), '--result', file)
  const tied = await check(model)
  // Attack 448.
  expect([tied.status, tied.stdout]).toEqual([4, expect.stringContaining('RESULT_NOT_SHOWN')])
  expect(tied.stdout).toMatch(/ {2}loss +\d\.\d{4} first \(told\), \d\.\d{4} last \(told\)/)
  expect(tied.stdout).toContain('the file you named is what the receipt commits to')
  const stored = storedIn(model)
  const other = inFolder('other.safetensors')
  const given = await givenResult(receipt, other)
  const problem = async (tensors: readonly (typeof stored)[number][]) => {
    writeFileSync(other, encodeSafetensors(tensors))
    return await trainingResult.problem(given)
  }
  const more = { name: 'more', dims: [1], bytes: new Uint8Array(4) }
  expect(await problem([...stored, more])).toBe('it holds more, which is no part of the model')
  expect(await problem(stored.slice(1))).toBe('embed is not in it as numbers of f32')
  await expect(problem(stored)).rejects.toMatchObject({ detail: { code: 'RESULT_NOT_TIED' } })
  expect((await check(other)).status).toBe(2)
  writeFileSync(other, readFileSync(model))
  changeByte(other, -1)
  const altered = await check(other)
  expect([altered.status, altered.stdout]).toEqual([1, expect.stringContaining('[OTHER_RESULT]')])
  writeFileSync(other, 'no tensors at all')
  expect(() => trainingResult.problem(given)).toThrow(/checkpoint/)
})

test('attack 360: weights that another text made are no yes, nor are those of digits that nobody drew', async () => {
  const { work } = await givenResult(inFolder('trained.json'), inFolder('model.safetensors'))
  const text = readFileSync(inFolder('text'), 'utf8')
  const other = (words: string) => {
    writeFileSync(inFolder('other-text'), words)
    return otherInput(work, [inFolder('other-text')])
  }
  expect(ownFiles({}).lacking(work)).toBe('add --given TEXT')
  expect([await other(text), await other(text.replace('once', 'ever')), await other(text + text)]).toEqual([
    ...[null, 'data', 'data'],
  ])
})

test('attack 205: the same bytes as a matrix of another shape, or after another number of steps, are no result', async () => {
  const other = inFolder('turned.safetensors')
  const file = readFileSync(inFolder('model.safetensors')).toString('latin1')
  writeFileSync(other, file.replace('"shape":[256,16]', '"shape":[16,256]'), 'latin1')
  const turned = await touchstone('check', inFolder('trained.json'), '--result', other)
  expect([turned.status, turned.stdout]).toEqual([1, expect.stringContaining('[OTHER_RESULT]')])
  const state = inFolder('other-state.safetensors')
  const mlp = ['--family', 'mlp', '--hidden', '8', '--sequences', '16', '--rate', '0.02', '--steps', '2']
  const files = ['--out', inFolder('two.safetensors'), '--receipt', inFolder('two.json'), '--state', state]
  expect((await touchstone('work', 'run', 'train', ...mlp, ...files)).status).toBe(0)
  const given = await givenResult(inFolder('two.json'), state)
  expect(await trainingResult.problem(given)).toBeNull()
  expect([ownFiles({}).lacking(given.work), await otherInput(given.work, [])]).toEqual([null, null])
  const givenRoots = new Map([...given.work.givenRoots, ['labels', sha256(new Uint8Array(0))]])
  expect(await otherInput({ ...given.work, givenRoots }, [])).toBe('labels')
  const more = new Uint8Array(Float32Array.of(900).buffer)
  const told = storedIn(state).map((each) => (each.name === 'touchstone.done' ? { ...each, bytes: more } : each))
  writeFileSync(state, encodeSafetensors(told))
  expect(await trainingResult.problem(given)).toBe('it says that other than 2 steps made it')
})

test('a check that was told what to hold a file against never says yes without having looked', async () => {
  const receipt = inFolder('trained.json')
  const model = inFolder('model.safetensors')
  const given = await touchstone('check', receipt, '--given', model, '--given', model, '--result', model)
  expect([given.status, given.stderr]).toEqual([2, expect.stringContaining('training takes --given TEXT')])
  const bare = await touchstone('check', receipt, '--model', 'ab'.repeat(32))
  expect(bare.stderr.replace(/\s+/g, ' ')).toContain('it is the receipt of a work [')
  for (const [option, value] of [
    ['model', 'ab'.repeat(32)],
    ['nonce', 'ab'.repeat(32)],
    ['countersign', inFolder('countersigned.json')],
  ] as const) {
    const { status, stdout } = await touchstone('check', receipt, `--${option}`, value, '--json')
    expect(status).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'NOT_FOR_THIS_KIND' } })
  }
})

test('attack 266: a receipt beside the certificate of its box says how fast it was, which an insecure preset does not bound', async () => {
  const box = inFolder('box.json')
  const asked = ['--preset', 'tiny', '--devices', 'cpu', '--precisions', 'int8', '--no-memory', '--no-bind']
  expect((await touchstone('verify', ...asked, '--out', box)).status).toBe(0)
  const { status, stdout } = await touchstone('check', inFolder('trained.json'), '--certificate', box, '--json')
  checkReportSchema.parse(JSON.parse(stdout))
  const { clock, doubts } = JSON.parse(stdout)
  expect(clock).toMatchObject({ precision: 'int8', perSecond: expect.any(Number) })
  // Attack 266. Both run on this very processor; which of them it was busier in is nothing to rely on.
  const codes = doubts.map(({ code }: { code: string }) => code)
  expect([status, codes.filter((code: string) => code !== 'FASTER_THAN_PROVEN')]).toEqual([4, ['NO_SUCH_SPEED']])
})

test('attacks 184, 340 and 444: touchstone work run train goes on from a state, and refuses one that no gradients make', async () => {
  const mlp = ['--family', 'mlp', '--hidden', '8', '--sequences', '16', '--rate', '0.02', '--steps', '2']
  const files = ['--out', inFolder('mlp.safetensors'), '--receipt', inFolder('mlp.json')]
  const run = (...more: string[]) => touchstone('work', 'run', 'train', ...mlp, ...files, ...more, '--json')
  const state = inFolder('state.safetensors')
  expect((await run('--state', state)).status).toBe(0)
  const on = await run('--from', state)
  expect([on.status, JSON.parse(on.stdout)]).toEqual([
    0,
    expect.objectContaining({
      kind: 'training',
      loss: { first: expect.any(Number), last: expect.any(Number), shown: { first: false, last: false } },
    }),
  ])
  const check = ['check', inFolder('mlp.json'), '--result', inFolder('mlp.safetensors')]
  expect((await touchstone(...check, '--given', state)).status).toBe(4)
  const { work } = await givenResult(inFolder('mlp.json'), state)
  expect(ownFiles({}).lacking(work)).toBe('add --given START.safetensors')
  expect(await otherInput(work, [inFolder('mlp.safetensors')])).toBe('the number of steps that made it')
  // The state is that of the first two steps, and the receipt of the two after them.
  expect(await trainingResult.problem(await givenResult(inFolder('mlp.json'), state))).toMatch(/other than 4 steps/)
  const bad = decodeSafetensors(readFileSync(state))
  bad.get('layers.0.weight/v')!.set(new Uint8Array(Float32Array.of(1e30).buffer))
  const dims = (bytes: Uint8Array) => [bytes.length / 4]
  writeFileSync(state, encodeSafetensors([...bad].map(([name, bytes]) => ({ name, dims: dims(bytes), bytes }))))
  const refused = await run('--from', state)
  expect(refused.status).toBe(2)
  expect(refused.stdout + refused.stderr).toContain('larger than gradients make it')
})
