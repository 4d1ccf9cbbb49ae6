import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkReportSchema } from '../../src/core/certificate/reportSchemas.ts'
import { decodeNpy, encodeNpy } from '../../src/drivers/workFiles/npy.ts'
import { turned } from '../../src/main/work/matmulWork.ts'
import { otherInput } from '../../src/main/work/results/givenInputs.ts'
import { changeByte } from '../support/changeByte.ts'
import { openHome } from '../support/commandLine.ts'
import { givenResult } from '../support/givenResult.ts'
import { bytesFrom } from '../support/plainProduct.ts'

const { inFolder, touchstone } = openHome()

const matrix = (name: string, rows: number, width: number) => {
  const bytes = bytesFrom(name, rows * width)
  writeFileSync(inFolder(`${name}.npy`), encodeNpy({ type: 'i8', rows, width, bytes }))
  return new Int8Array(bytes.buffer)
}

describe('touchstone work run matmul', () => {
  const a = matrix('a', 9, 40)
  const b = matrix('b', 40, 7)
  const run = () =>
    touchstone('work', 'run', 'matmul', ...['a', 'b'].map((name) => inFolder(`${name}.npy`)), '--json', ...files)
  const files = ['--out', inFolder('c.npy'), '--receipt', inFolder('receipt.json'), '--inputs', inFolder('inputs')]

  test('delivers the product, and a receipt that a check judges without doing it again', async () => {
    const { status, stdout } = await run()
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'matmul', operations: 2 * 9 * 7 * 40 })
    const { rows, width, bytes } = decodeNpy(readFileSync(inFolder('c.npy')))
    const product = Array.from({ length: rows * width }, (_, at) => {
      let sum = 0
      for (let k = 0; k < 40; k++) sum += a[Math.floor(at / 7) * 40 + k]! * b[k * 7 + (at % 7)]!
      return sum
    })
    expect([...new Int32Array(Uint8Array.from(bytes).buffer)]).toEqual(product)
    const checked = await touchstone('check', inFolder('receipt.json'), '--json')
    const report = checkReportSchema.parse(JSON.parse(checked.stdout))
    expect(report).toMatchObject({ kind: 'receipt', verdict: 'genuine', work: { patches: 128, drawnBy: 'listener' } })
    expect(report).toMatchObject({ asked: { rows: 9, columns: 7, k: 40 } })
    expect(checked.status).toBe(0)
    const page = inFolder('receipt.html')
    expect((await touchstone('report', inFolder('receipt.json'), '--html', page)).status).toBe(0)
    const carried = /"data:application\/octet-stream;base64,([^"]*)"/.exec(readFileSync(page, 'utf8'))?.[1] ?? ''
    expect(Buffer.from(carried, 'base64').equals(readFileSync(inFolder('receipt.json')))).toBe(true)
  })

  test('can be run again by whoever has the inputs, and by nobody with others', async () => {
    const replay = () => touchstone('check', inFolder('receipt.json'), '--replay', inFolder('inputs'), '--json')
    const { status, stdout } = await replay()
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'genuine', work: { segments: 1, replayed: 1 } })
    const held = () => touchstone('check', inFolder('receipt.json'), '--inputs', inFolder('inputs'), '--json')
    expect((await held()).status).toBe(0)
    const file = join(inFolder('inputs'), 'a.bin')
    changeByte(file, -1)
    for (const refused of [await replay(), await held()]) {
      expect(refused.status).toBe(2)
      expect(refused.stdout + refused.stderr).toContain('another root')
    }
    changeByte(file, -1)
  })

  test('attack 360: a product of other matrices than the reader handed in is no yes', async () => {
    const [receipt, a, b] = ['receipt.json', 'a.npy', 'b.npy'].map(inFolder) as [string, string, string]
    const alone = await touchstone('check', receipt, '--result', inFolder('c.npy'), '--json')
    const doubts = [
      { code: 'OPERANDS_NOT_AT_HAND', where: 'add --given A.npy --given B.npy' },
      { code: 'RESULT_NOT_SHOWN' },
    ]
    expect([alone.status, JSON.parse(alone.stdout)]).toMatchObject([4, { doubts, inputsTied: false, resultTied: true }])
    writeFileSync(inFolder('changed.npy'), readFileSync(a))
    changeByte(inFolder('changed.npy'), -1)
    const other = ['--given', inFolder('changed.npy'), '--given', b]
    const refused = await touchstone('check', receipt, ...other, '--result', inFolder('c.npy'), '--json')
    expect([refused.status, JSON.parse(refused.stdout)]).toMatchObject([1, { problem: { code: 'OTHER_TENSOR' } }])
    const { work } = await givenResult(receipt, a)
    writeFileSync(inFolder('sized.npy'), encodeNpy({ ...decodeNpy(readFileSync(a)), rows: 40, width: 9 }))
    expect([await otherInput(work, [a, b]), await otherInput(work, [inFolder('sized.npy'), b])]).toEqual([null, 'a'])
    await expect(otherInput(work, [a])).rejects.toThrow('matmul takes --given A.npy --given B.npy')
  })

  test('attack 191: a result is what the receipt commits to, in every entry, or is refused', async () => {
    const operands = ['a', 'b'].flatMap((name) => ['--given', inFolder(`${name}.npy`)])
    const result = ['--result', inFolder('c.npy')]
    const held = (...more: string[]) =>
      touchstone('check', inFolder('receipt.json'), ...operands, ...result, ...more, '--json')
    // Attack 448: one entry of each block may be wrong, and none of them drawn.
    expect((await held()).status).toBe(4)
    const tied = await held('--replay', inFolder('inputs'))
    expect(checkReportSchema.parse(JSON.parse(tied.stdout))).toMatchObject({
      ...{ verdict: 'genuine', resultTied: true, inputsTied: true },
    })
    expect(tied.status).toBe(0)
    changeByte(inFolder('c.npy'), -5)
    const altered = await held()
    expect(altered.status).toBe(1)
    expect(JSON.parse(altered.stdout)).toMatchObject({
      resultTied: false,
      problem: { code: 'OTHER_RESULT', where: 'rows from 0 on are others' },
    })
  })

  test('on two provers comes to the same on both', async () => {
    const twice = [...files, '--replicas', '2', '--json']
    const { status, stdout } = await touchstone('work', 'run', 'matmul', inFolder('a.npy'), inFolder('b.npy'), ...twice)
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ replicas: '2 of 2 came to the same' })
  })

  test('a mistake names the help of this very command', async () => {
    const { status, stderr } = await touchstone('work', 'run', 'matmul', inFolder('a.npy'))
    expect([status, stderr]).toEqual([2, expect.stringContaining('"touchstone work run matmul --help"')])
  })

  test('refuses -128, matrices that do not fit, and files that are none, before anything is made', async () => {
    writeFileSync(
      inFolder('bad.npy'),
      encodeNpy({ type: 'i8', rows: 40, width: 1, bytes: new Uint8Array(40).fill(128) }),
    )
    writeFileSync(inFolder('none.npy'), 'no matrix')
    for (const [name, why] of [
      ['bad', '-128'],
      ['a', 'they must be as many'],
      ['none', 'not a file of NumPy'],
      ['missing', 'cannot read'],
    ]) {
      const end = await touchstone('work', 'run', 'matmul', inFolder('a.npy'), inFolder(`${name}.npy`), ...files)
      expect(end.status).toBe(2)
      expect(end.stderr.replace(/\s+/g, ' ')).toContain(why)
    }
  })
})

describe('touchstone work run matmul --method sumcheck', () => {
  const names = ['a', 'b'].map((name) => inFolder(`${name}.npy`))
  const [result, receipt] = [inFolder('proven.npy'), inFolder('proven.json')]
  const run = (...more: string[]) =>
    touchstone(
      'work',
      'run',
      'matmul',
      ...names,
      '--method',
      'sumcheck',
      '--out',
      result,
      '--receipt',
      receipt,
      ...more,
    )
  const check = (given: readonly string[], c: string) =>
    touchstone('check', receipt, ...given.flatMap((name) => ['--given', name]), '--result', c, '--json')

  test('delivers the product with a proof of every entry, and a check prints how surely', async () => {
    const ran = await run()
    expect(ran.status).toBe(0)
    const named = `check ${receipt} --given ${names[0]} --given ${names[1]} --result ${result}`
    expect(ran.stdout.replace(/\s+/g, ' ')).toContain(named)
    const { status: ends, stdout } = await check(names, result)
    const report = checkReportSchema.parse(JSON.parse(stdout))
    expect(report).toMatchObject({
      kind: 'product',
      verdict: 'genuine',
      work: { method: 'sumcheck', credited: 2 * 9 * 7 * 40, proofBytes: 16 * (3 + 2 * 6) },
    })
    expect(report.kind === 'product' && report.work.log2Error).toBeLessThan(-100)
    expect(ends).toBe(0)
    const told = await touchstone('check', receipt, '--given', names[0]!, '--given', names[1]!, '--result', result)
    expect(told.stdout.replace(/\s+/g, ' ')).toContain('passes with a chance of at most 2^-117 a try')
  })

  test('without the matrices nothing is established; with others it is refused', async () => {
    const alone = await touchstone('check', receipt, '--json')
    expect(alone.status).toBe(4)
    expect(JSON.parse(alone.stdout)).toMatchObject({ doubts: [{ code: 'OPERANDS_NOT_AT_HAND' }] })
    const c = readFileSync(result)
    writeFileSync(
      inFolder('wrong.npy'),
      c.map((byte, i) => (i === c.length - 1 ? byte ^ 1 : byte)),
    )
    for (const [given, product] of [
      [names, inFolder('wrong.npy')],
      [[names[1]!, names[0]!], result],
    ] as const) {
      const refused = await check(given, product)
      expect(JSON.parse(refused.stdout)).toMatchObject({ problem: { code: 'OTHER_TENSOR' } })
      expect(refused.status).toBe(1)
    }
  })

  test('attack 209: the same bytes as a matrix of other sizes are no result, and no operand', async () => {
    const as = (name: string, rows: number, width: number) => {
      const file = inFolder('sized.npy')
      writeFileSync(file, encodeNpy({ ...decodeNpy(readFileSync(name)), rows, width }))
      return file
    }
    for (const [given, c] of [
      [() => names, () => as(result, 7, 9)],
      [() => names, () => as(result, 3, 21)],
      [() => [as(names[0]!, 40, 9), names[1]!], () => result],
    ] as const) {
      const refused = await check(given(), c())
      expect([refused.status, JSON.parse(refused.stdout)]).toMatchObject([1, { problem: { code: 'OTHER_TENSOR' } }])
    }
  })

  test('with --code whoever has C alone can check it, against the codes that were published', async () => {
    const [coded, file] = [inFolder('coded.npy'), inFolder('coded.json')]
    const words = ['--method', 'sumcheck', '--code', '--out', coded, '--receipt', file]
    const ran = await touchstone('work', 'run', 'matmul', ...names, ...words)
    expect([ran.status, ran.stdout]).toEqual([0, expect.stringMatching(/--code\s+\w{64}\s+--result\s/)])
    const alone = await touchstone('check', file, '--result', coded, '--json')
    expect(alone.status).toBe(4)
    const { codes, doubts } = JSON.parse(alone.stdout)
    expect(doubts).toMatchObject([{ code: 'CODE_NOT_NAMED' }])
    const published = codes.flatMap((code: string) => ['--code', code])
    const { status, stdout } = await touchstone('check', file, '--result', coded, ...published, '--json')
    expect(checkReportSchema.parse(JSON.parse(stdout))).toMatchObject({ kind: 'product', verdict: 'genuine', codes })
    expect(status).toBe(0)
    expect((await touchstone('check', file, '--result', coded, '--code', codes[0])).status).toBe(2)
  })

  test('attack 265: codes that somebody published are no yes to a receipt that has none', async () => {
    expect((await check(names, result)).status).toBe(0)
    const [a, b] = names.map((name) => ['--given', name])
    const published = ['--code', '11'.repeat(32), '--code', '22'.repeat(32)]
    const { status, stderr } = await touchstone('check', receipt, ...a!, ...b!, '--result', result, ...published)
    expect([status, stderr]).toEqual([2, expect.stringContaining('[NOT_FOR_THIS_KIND]')])
  })

  test('takes three matrices or none, no replicas, and no replay', async () => {
    const product = await touchstone('check', receipt, '--replay', inFolder('inputs'))
    expect(product).toMatchObject({ status: 2, stderr: expect.stringContaining('[NOT_FOR_THIS_KIND]') })
    const two = await touchstone('check', receipt, '--given', names[0]!, '--result', result)
    expect([two.status, two.stderr]).toEqual([2, expect.stringContaining('--given A, --given B')])
    const replicas = await run('--replicas', '2')
    expect([replicas.status, replicas.stderr]).toEqual([2, expect.stringContaining('no replicas')])
  })
})

describe('touchstone work run classify', () => {
  const weights = matrix('weights', 3, 5)
  const inputs = matrix('inputs', 2, 5)
  const [scores, receipt] = [inFolder('scores.npy'), inFolder('answer.json')]
  const names = ['weights', 'inputs'].map((name) => inFolder(`${name}.npy`))
  const run = () =>
    touchstone('work', 'run', 'classify', ...names, '--method', 'zk', '--out', scores, '--receipt', receipt, '--json')
  let model = ''

  test('delivers the scores, a receipt without the weights, and the same name for the same model', async () => {
    const { status, stdout } = await run()
    expect(status).toBe(0)
    model = JSON.parse(stdout).model
    const { rows, width, bytes } = decodeNpy(readFileSync(scores))
    const expected = Array.from({ length: 6 }, (_, at) => {
      let sum = 0
      for (let k = 0; k < 5; k++) sum += weights[(at % 3) * 5 + k]! * inputs[Math.floor(at / 3) * 5 + k]!
      return sum
    })
    expect([rows, width, ...new Int32Array(Uint8Array.from(bytes).buffer)]).toEqual([2, 3, ...expected])
    expect(JSON.parse((await run()).stdout).model).toBe(model)
  })

  test('a check holds it against the model that was named, and a changed answer against nothing', async () => {
    const { status, stdout } = await touchstone('check', receipt, '--model', model, '--given', names[1]!, '--json')
    expect(checkReportSchema.parse(JSON.parse(stdout))).toMatchObject({ kind: 'answer', verdict: 'genuine', model })
    expect(status).toBe(0)
    const unnamed = await touchstone('check', receipt, '--given', names[1]!, '--json')
    expect(unnamed.status).toBe(4)
    expect(JSON.parse(unnamed.stdout)).toMatchObject({ doubts: [{ code: 'MODEL_NOT_NAMED' }] })
    const other = await touchstone('check', receipt, '--model', 'ab'.repeat(32))
    expect([other.status, other.stdout]).toEqual([1, expect.stringContaining('OTHER_MODEL')])
  })

  test('attack 344: answers the input that the reader has, with his scores, or is no yes', async () => {
    const check = (...args: string[]) => touchstone('check', receipt, '--model', model, ...args, '--json')
    const alone = await check('--result', scores)
    expect([alone.status, JSON.parse(alone.stdout)]).toMatchObject([4, { doubts: [{ code: 'OPERANDS_NOT_AT_HAND' }] }])
    expect((await check('--given', names[1]!, '--result', scores)).status).toBe(0)
    const turn = (name: string, { rows, width, ...more }: ReturnType<typeof decodeNpy>) => {
      writeFileSync(inFolder(name), encodeNpy({ rows: width, width: rows, ...more }))
      return inFolder(name)
    }
    const [input, answer] = [names[1]!, scores].map((name) => decodeNpy(readFileSync(name)))
    const copied = (matrix: ReturnType<typeof decodeNpy>) => {
      writeFileSync(inFolder('changed.npy'), encodeNpy(matrix))
      return inFolder('changed.npy')
    }
    const files: readonly (readonly [string, string])[] = [
      ['--given', turn('turned-inputs.npy', input!)],
      ['--result', turn('turned-scores.npy', answer!)],
    ]
    for (const [option, name] of files) {
      changeByte(copied(option === '--given' ? input! : answer!), -1)
      for (const other of [name, inFolder('changed.npy')]) {
        const { status, stdout } = await check(...(option === '--result' ? ['--given', names[1]!] : []), option, other)
        const code = option === '--given' ? 'OTHER_TENSOR' : 'OTHER_RESULT'
        expect([status, JSON.parse(stdout)]).toMatchObject([1, { problem: { code } }])
      }
    }
    const twice = await check('--given', names[1]!, '--given', names[1]!)
    expect([twice.status, twice.stdout]).toEqual([2, expect.stringContaining('BAD_WORK_INPUT')])
  })

  test('refuses weights and inputs that do not fit', async () => {
    const end = await touchstone('work', 'run', 'classify', names[0]!, inFolder('a.npy'))
    expect([end.status, end.stderr]).toEqual([2, expect.stringContaining('columns')])
  })
})

describe('touchstone work run matmul by other methods', () => {
  const names = ['a', 'b'].map((name) => inFolder(`${name}.npy`))

  test('--method zk: the product with a proof that shows nothing of A', async () => {
    const files = ['--out', inFolder('hidden.npy'), '--receipt', inFolder('hidden.json')]
    const { status, stdout } = await touchstone('work', 'run', 'matmul', ...names, '--method', 'zk', ...files, '--json')
    expect(status).toBe(0)
    const { model } = JSON.parse(stdout)
    await touchstone('work', 'run', 'matmul', ...names, '--out', inFolder('open.npy'), '--receipt', inFolder('r.json'))
    expect(readFileSync(inFolder('hidden.npy'))).toEqual(readFileSync(inFolder('open.npy')))
    const b = decodeNpy(readFileSync(names[1]!))
    const columns = encodeNpy({ ...b, rows: b.width, width: b.rows, bytes: turned(b) })
    writeFileSync(inFolder('columns.npy'), columns)
    const check = (given: string) => touchstone('check', inFolder('hidden.json'), '--model', model, '--given', given)
    expect((await check(inFolder('columns.npy'))).status).toBe(0)
    expect((await check(names[1]!)).status).toBe(1)
    const elsewhere = await touchstone('work', 'run', 'matmul', ...names, '--method', 'zk', '--replicas', '2')
    expect([elsewhere.status, elsewhere.stderr]).toEqual([2, expect.stringContaining('this machine alone')])
  })

  test('--method attest: hardware that cannot is named before anything is done, and what to do', async () => {
    const [out, evidence] = [inFolder('attested.npy'), inFolder('evidence.json')]
    const files = ['--out', out, '--receipt', inFolder('attested.json'), '--evidence', evidence]
    const end = await touchstone('work', 'run', 'matmul', ...names, '--method', 'attest', ...files)
    expect([end.status, end.stderr]).toEqual([2, expect.stringContaining('CANNOT_ATTEST')])
    expect(end.stderr.replace(/\s+/g, ' ')).toContain('confidential computing')
    for (const file of [out, evidence]) expect(existsSync(file)).toBe(false)
  })
})
