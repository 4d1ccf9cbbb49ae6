import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { signerFrom } from '../../src/core/bytes/ed25519.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { issueReceipt } from '../../src/core/certificate/receiptEvidence.ts'
import { checkReportSchema } from '../../src/core/certificate/reportSchemas.ts'
import { toInstant } from '../../src/core/units/instants.ts'
import { EngineRun } from '../../src/core/work/engineRun.ts'
import { proveWork } from '../../src/core/work/proveWork.ts'
import { decodePng, encodePng } from '../../src/drivers/picture/png.ts'
import { decodeNpy, encodeNpy } from '../../src/drivers/workFiles/npy.ts'
import { decodeSafetensors, encodeSafetensors, storedTensors } from '../../src/drivers/workFiles/safetensorsFile.ts'
import { turned } from '../../src/main/work/matmulWork.ts'
import { otherInput } from '../../src/main/work/results/givenInputs.ts'
import { ownFiles } from '../../src/main/work/results/ownFiles.ts'
import { simulationResult } from '../../src/main/work/results/pictureResults.ts'
import { trainingResult } from '../../src/main/work/results/trainingResult.ts'
import { openCommandLine } from '../support/commandLine.ts'
import { givenResult } from '../support/givenResult.ts'
import { bytesFrom, plainEngine, plainProduct } from '../support/plainProduct.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-work-'))
const inFolder = (name: string) => join(folder, name)
const commands = openCommandLine({ ...process.env, TOUCHSTONE_HOME: inFolder('home'), NO_COLOR: '1' })
const touchstone = (...args: string[]) => commands.run(args)

afterAll(async () => {
  await commands.close()
  rmSync(folder, { recursive: true, force: true })
})

const matrix = (name: string, rows: number, width: number) => {
  const bytes = bytesFrom(name, rows * width)
  writeFileSync(inFolder(`${name}.npy`), encodeNpy({ type: 'i8', rows, width, bytes }))
  return new Int8Array(bytes.buffer)
}

/** One bit of a byte of a file, counted from its end. */
function storedIn(name: string) {
  const file = readFileSync(name)
  const held = decodeSafetensors(file)
  return storedTensors(file).map(({ name: tensor, dims }) => ({ name: tensor, dims, bytes: held.get(tensor)! }))
}

function changeByte(file: string, at: number): void {
  const bytes = readFileSync(file)
  bytes[bytes.length + at]! ^= 1
  writeFileSync(file, bytes)
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
    writeFileSync(
      file,
      readFileSync(file).map((byte, i) => (i === 0 ? byte ^ 1 : byte)),
    )
    for (const refused of [await replay(), await held()]) {
      expect(refused.status).toBe(2)
      expect(refused.stdout + refused.stderr).toContain('another root')
    }
  })

  test('attack 360: a product of other matrices than the reader handed in is no yes', async () => {
    const [receipt, a, b] = ['receipt.json', 'a.npy', 'b.npy'].map(inFolder) as [string, string, string]
    const alone = await touchstone('check', receipt, '--result', inFolder('c.npy'), '--json')
    const doubts = [{ code: 'OPERANDS_NOT_AT_HAND', where: 'add --given A.npy --given B.npy' }]
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
    const held = () => touchstone('check', inFolder('receipt.json'), ...operands, ...result, '--json')
    const tied = await held()
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

  test('takes three matrices or none, and no replicas', async () => {
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

test('attack 161: work on zeros is not shown, whoever watched it', async () => {
  const sizes = { rows: 8, columns: 6, k: 40, block: 4 }
  const { work, given } = plainProduct(sizes, (_, bytes) => new Uint8Array(bytes))
  const run = new EngineRun(plainEngine(), work, given)
  const marks = work.ends.map((_, segment) => run.advance(segment))
  const firstRoot = new Uint8Array(32)
  const proof = await proveWork(work, { firstRoot, marks }, run, (draw) => sha256(Uint8Array.of(draw)))
  const watcher = signerFrom(sha256(Uint8Array.of(7)))
  const nowMs = Date.now()
  const [startedAt, issuedAt, notAfter] = [nowMs - 2000, nowMs - 1000, nowMs + 3_600_000].map(toInstant)
  const receipt = issueReceipt(
    {
      ...{ ...proof, firstRoot, marks, workId: work.workId, orderId: work.orderId, seed: work.seed, spec: work.text },
      ...{ startedAt: startedAt!, issuedAt: issuedAt!, notAfter: notAfter!, drawnBy: 'listener', elapsedUs: 1 },
      ...{ proverKey: sha256(Uint8Array.of(8)), program: 'test', device: 'test' },
    },
    watcher,
  )
  writeFileSync(inFolder('zeros.json'), receipt)
  const trust = ['--trust', toHex(watcher.publicKey)]
  const { status, stdout } = await touchstone('check', inFolder('zeros.json'), ...trust, '--json')
  expect(checkReportSchema.parse(JSON.parse(stdout))).toMatchObject({
    verdict: 'not-established',
    doubts: [{ code: 'DEAD_WORK' }],
    work: { operations: 2 * 8 * 6 * 40, liveShare: 0, credited: 0 },
  })
  expect(status).toBe(4)
})

test.each(['openings', 'sumcheck'])(
  'attack 225: whoever has zeros multiplied is told so by the run itself (%s)',
  async (method) => {
    writeFileSync(inFolder('none.npy'), encodeNpy({ type: 'i8', rows: 8, width: 40, bytes: new Uint8Array(320) }))
    matrix('some', 40, 6)
    const files = ['--out', inFolder('none.c.npy'), '--receipt', inFolder('none.receipt')]
    const operands = ['none', 'some'].map((name) => inFolder(`${name}.npy`))
    const run = ['work', 'run', 'matmul', ...operands, '--method', method, ...files]
    const { status, stdout } = await touchstone(...run, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ operations: 2 * 8 * 6 * 40, credited: 0 })
    expect(status).toBe(4)
    expect((await touchstone(...run)).stdout).toContain('[DEAD_WORK]')
  },
)

test('touchstone work run train delivers weights, and a receipt whose every byte counts', async () => {
  writeFileSync(inFolder('text'), 'what is written once is written once more. '.repeat(40))
  const small = ['--layers', '1', '--width', '16', '--heads', '2', '--tokens', '16', '--sequences', '2', '--steps', '3']
  const files = ['--out', inFolder('model.safetensors'), '--receipt', inFolder('trained.json')]
  const { status, stdout } = await touchstone('work', 'run', 'train', inFolder('text'), ...small, ...files)
  expect(status).toBe(0)
  expect(stdout).toMatch(/ {2}loss +\d\.\d{4} first \((told|shown)\), \d\.\d{4} last \((told|shown)\)/)
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    `check ${inFolder('trained.json')} --given ${inFolder('text')} --result`,
  )
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
  expect(tied.status).toBe(0)
  expect(tied.stdout).toMatch(/ {2}loss +\d\.\d{4} first \((told|shown)\), \d\.\d{4} last \((told|shown)\)/)
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
  const product = await touchstone('check', inFolder('proven.json'), '--replay', inFolder('inputs'))
  expect(product).toMatchObject({ status: 2, stderr: expect.stringContaining('[NOT_FOR_THIS_KIND]') })
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

test('attacks 184 and 340: touchstone work run train goes on from a state, and refuses one that no gradients make', async () => {
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
      loss: { first: expect.any(Number), last: expect.any(Number), shown: { first: true, last: true } },
    }),
  ])
  const check = ['check', inFolder('mlp.json'), '--result', inFolder('mlp.safetensors')]
  expect((await touchstone(...check, '--given', state)).status).toBe(0)
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

test('touchstone work run simulate delivers the field and pictures of it, and a receipt', async () => {
  const small = [
    '--size',
    '16x12x4',
    '--steps',
    '24',
    '--obstacle',
    'sphere:6,6,2,2',
    '--obstacle',
    'box:12,0,0,13,2,3',
  ]
  const out = ['--out', inFolder('field.npy'), '--receipt', inFolder('flow.json')]
  const files = [...out, '--pictures', inFolder('flow'), '--inputs', inFolder('stream')]
  const { status } = await touchstone('work', 'run', 'simulate', ...small, ...files, '--frames', '3', '--walls')
  expect(status).toBe(0)
  const field = readFileSync(inFolder('field.npy'))
  expect(field.toString('latin1')).toContain("'descr': '<f4', 'fortran_order': False, 'shape': (4, 4, 12, 16)")
  const values = new Float32Array(Uint8Array.from(field.subarray(128)).buffer)
  const density = (x: number, y: number, z: number) => values[(z * 12 + y) * 16 + x]!
  expect([density(6, 6, 2), density(12, 2, 0), density(3, 0, 1), density(3, 11, 1)]).toEqual([0, 0, 0, 0])
  expect(density(1, 6, 2)).toBeCloseTo(1, 0)
  expect(readdirSync(inFolder('flow')).length).toBeGreaterThanOrEqual(2)
  const check = (...more: string[]) => touchstone('check', inFolder('flow.json'), '--result', ...more)
  const stream = ['--inputs', inFolder('stream')]
  const cells = ['--given', join(inFolder('stream'), 'cells.bin')]
  expect((await check(inFolder('field.npy'), ...stream, ...cells)).status).toBe(0)
  const given = await givenResult(inFolder('flow.json'), inFolder('field.npy'))
  const rule = (path: string) => simulationResult(path).problem({ ...given, path })
  for (const path of [given.path, inFolder('flow')])
    expect(() => rule(path)).toThrow('cannot be held against the receipt')
  expect(await otherInput(given.work, [join(inFolder('stream'), 'result.populations.bin')])).toBe('cells')
  expect((await check(inFolder('flow'), '--replay', inFolder('stream'), ...cells)).status).toBe(0)
  const kept = join(inFolder('stream'), 'result.populations.bin')
  const states = () => new Map([['populations', readFileSync(kept)]])
  const last = join(inFolder('flow'), readdirSync(inFolder('flow')).sort().at(-1)!)
  const held = (path: string) => simulationResult(path).problem({ ...given, path, states })
  expect([held(last), held(given.path)]).toEqual([null, null])
  // Attack 342: whatever else lies in the folder of a film is shown with it.
  const film = inFolder('film')
  const names = readdirSync(inFolder('flow'))
  const filmOf = (kept: readonly string[], more: string | null) => {
    rmSync(film, { recursive: true, force: true })
    mkdirSync(film)
    for (const name of kept) copyFileSync(join(inFolder('flow'), name), join(film, name))
    if (more !== null) mkdirSync(join(film, more))
    return () => held(film)
  }
  for (const more of ['flow-000001.PNG', 'film.mp4', 'flow', 'flow-1.png', 'xflow-000001.png', '.hidden'])
    expect(filmOf(names, more)).toThrow(`the folder holds "${more}", which is no picture of a flow`)
  expect(filmOf(names.toSpliced(1, 1), null)).toThrow(/the film lacks flow-\d{6}\.png/)
  expect(filmOf(names.slice(0, -1), null)).toThrow(/the film lacks flow-\d{6}\.png/)
  expect(filmOf([], null)).toThrow('the folder holds no picture')
  expect(filmOf(names.slice(-1), null)()).toBeNull()
  writeFileSync(last, encodePng({ width: 16, height: 12, rgb: new Uint8Array(576) }))
  changeByte(given.path, -9)
  expect(held(last)).toMatch(/^flow-\d+\.png: from pixel \d+, \d+ on, \d+ values are others$/)
  expect(held(given.path)).toBe('density or velocity are others')
  changeByte(kept, -9)
  expect((await check(given.path, ...stream)).status).toBe(2)
  for (const [option, value] of [
    ['--size', '10'],
    ['--obstacle', 'sphere:1,2'],
  ] as const)
    expect((await touchstone('work', 'run', 'simulate', option, value, ...files)).status).toBe(2)
})

describe('touchstone work run render', () => {
  const room = fileURLToPath(new URL('../../examples/room.glb', import.meta.url))
  const files = ['--out', inFolder('room.png'), '--receipt', inFolder('room.json'), '--inputs', inFolder('scene')]
  const check = (...more: string[]) => touchstone('check', inFolder('room.json'), '--json', ...more)

  test('delivers a picture, and a receipt for whoever has the scene', async () => {
    const small = ['--width', '24', '--height', '16', '--samples', '1']
    expect((await touchstone('work', 'run', 'render', room, ...small, ...files)).status).toBe(0)
    const picture = readFileSync(inFolder('room.png'))
    expect([picture.toString('latin1', 1, 4), picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([
      'PNG',
      24,
      16,
    ])
    expect(readdirSync(folder).filter((name) => name.includes('growing'))).toEqual([])
    const scene = ['--inputs', inFolder('scene'), '--given', room]
    const shown = await check(...scene, '--result', inFolder('room.png'))
    expect(shown.status).toBe(0)
    expect(JSON.parse(shown.stdout)).toMatchObject({ verdict: 'genuine', resultTied: true, work: { patches: 128 } })
    const { rgb, ...sides } = decodePng(picture)
    const other = rgb.map((value, i) => (i === 300 ? value ^ 1 : value))
    writeFileSync(inFolder('other.png'), encodePng({ ...sides, rgb: other }))
    const altered = await check(...scene, '--result', inFolder('other.png'))
    expect([altered.status, JSON.parse(altered.stdout).problem.where]).toEqual([
      1,
      'from pixel 4, 4 on, 1 values are others',
    ])
    const { work } = await givenResult(inFolder('room.json'), room)
    const glb = readFileSync(room)
    // A number of the first corner, behind the chunk of JSON.
    glb[30 + glb.readUInt32LE(12)]! ^= 1
    writeFileSync(inFolder('other.glb'), glb)
    expect([await otherInput(work, [room]), await otherInput(work, [inFolder('other.glb')])]).toEqual([
      null,
      expect.any(String),
    ])
    expect(ownFiles({}).lacking(work)).toBe('add --given SCENE.glb')
    const blind = await check()
    expect(blind.status).toBe(4)
    expect(JSON.parse(blind.stdout)).toMatchObject({ doubts: [{ code: 'INPUTS_NEEDED' }], work: { credited: 0 } })
  })

  test('refuses what is no scene, and sizes that it cannot do, before anything is made', async () => {
    writeFileSync(inFolder('none.glb'), 'glTF')
    for (const [scene, more, why] of [
      [inFolder('none.glb'), [], 'no glTF file'],
      [room, ['--width', '30'], 'multiples of 8'],
      [room, ['--samples', '4096', '--width', '16384'], 'too much'],
    ] as const) {
      const end = await touchstone('work', 'run', 'render', scene, ...files, ...more)
      expect(end.status).toBe(2)
      expect(end.stderr.replace(/\s+/g, ' ')).toContain(why)
    }
  })
})
