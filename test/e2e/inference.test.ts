import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { inferenceResult } from '../../src/main/work/results/inferenceResult.ts'
import { openHome } from '../support/commandLine.ts'
import { givenResult } from '../support/givenResult.ts'

const model = fileURLToPath(new URL('../fixtures/small-gpt2', import.meta.url))
const { inFolder, commands } = openHome()
const infer = (...args: string[]) => commands.run(['work', 'run', 'infer', ...args])
const files = ['--out', inFolder('said.json'), '--receipt', inFolder('receipt.json'), '--inputs', inFolder('inputs')]

test('a model goes on from a prompt: its text is shown, and a receipt for it, which whoever has the inputs replays', async () => {
  const { status, stdout } = await infer('--model', model, '--prompt', 'This package ', '--tokens', '12', ...files)
  expect(status).toBe(0)
  const { completions } = JSON.parse(readFileSync(inFolder('said.json'), 'utf8'))
  expect(completions).toEqual([
    { prompt: 'This package ', text: expect.any(String), tokens: expect.any(Array), hasStopped: false, rest: [] },
  ])
  const [{ text, tokens }] = completions
  expect(tokens).toHaveLength(12)
  expect(Buffer.from(tokens).toString()).toBe(text)
  expect(stdout.startsWith(`This package ${text}\n`)).toBe(true)
  const checked = await commands.run(['check', inFolder('receipt.json'), '--replay', inFolder('inputs'), '--json'])
  expect(checked.status).toBe(0)
  expect(JSON.parse(checked.stdout)).toMatchObject({
    verdict: 'genuine',
    work: { segments: 2, replayed: 2, liveShare: 1 },
  })
})

test('attacks 191 and 448: a text is what the receipt commits to, letter by letter, or is refused', async () => {
  const file = inFolder('said.json')
  const held = ['check', inFolder('receipt.json'), '--result', file]
  const drawn = await commands.run([...held, '--tokenizer', model])
  expect([drawn.status, drawn.stdout]).toEqual([4, expect.stringContaining('RESULT_NOT_SHOWN')])
  const replayed = [...held, '--tokenizer', model, '--replay', inFolder('inputs')]
  expect((await commands.run(replayed)).status).toBe(0)
  expect(await commands.run(held)).toMatchObject({ status: 2, stderr: expect.stringContaining('--tokenizer FOLDER') })
  const { completions, ...rest } = JSON.parse(readFileSync(file, 'utf8'))
  const [said] = completions
  const given = { ...(await givenResult(inFolder('receipt.json'), inFolder('other.json'))), tokenizer: model }
  const problem = (change: object) => {
    writeFileSync(given.path, JSON.stringify({ ...rest, completions: [{ ...said, ...change }] }))
    return inferenceResult.problem(given)
  }
  const cut = said.tokens.slice(0, 5)
  expect(await problem({})).toBeNull()
  expect(await problem({ text: `${said.text}!` })).toMatch(/not that of its tokens/)
  expect(await problem({ prompt: 'That package ' })).toMatch(/prompts or tokens/)
  expect(await problem({ hasStopped: true })).toMatch(/ends where/)
  expect(await problem({ text: Buffer.from(cut).toString(), tokens: cut, rest: said.tokens.slice(5) })).toMatch(
    /ends where/,
  )
  expect(await problem({ tokens: [...cut, ...said.tokens.slice(5).reverse()] })).toMatch(/prompts or tokens/)
  expect(await problem({ more: 1 })).toMatch(/no file of completions/)
  // Attack 341: another reader may show the first of two texts.
  writeFileSync(given.path, readFileSync(file, 'utf8').replace(/"text":/, '"text":"Buy!","text":'))
  expect(await inferenceResult.problem(given)).toMatch(/no file of completions/)
})

test('attack 345: words of the prompt are not told as those of the model, nor its own as those of the prompt', async () => {
  const { completions, ...more } = JSON.parse(readFileSync(inFolder('said.json'), 'utf8'))
  const [{ prompt, tokens }] = completions
  const row: number[] = [...Buffer.from(prompt), ...tokens]
  const given = { ...(await givenResult(inFolder('receipt.json'), inFolder('moved.json'))), tokenizer: model }
  const problem = (length: number) => {
    const made = row.slice(length)
    const said = made.slice(0, tokens.length)
    const told = { prompt: Buffer.from(row.slice(0, length)).toString(), text: Buffer.from(said).toString() }
    const moved = { ...told, tokens: said, hasStopped: false, rest: made.slice(tokens.length) }
    writeFileSync(given.path, JSON.stringify({ ...more, completions: [moved] }))
    return inferenceResult.problem(given)
  }
  expect(await problem(prompt.length)).toBeNull()
  for (const moved of [-9, -1, 1, 8]) expect(await problem(prompt.length + moved)).toMatch(/prompts or tokens/)
})

test('attack 337: a receipt that has other tokens for a state on the way does not hold a text', async () => {
  const given = { ...(await givenResult(inFolder('receipt.json'), inFolder('said.json'))), tokenizer: model }
  const [first, ...marks] = given.receipt.marks
  const statistics = first!.statistics.map((token, i) => (i === 7 ? token ^ 1 : token))
  const lied = { ...given, receipt: { ...given.receipt, marks: [{ ...first!, statistics }, ...marks] } }
  expect(await inferenceResult.problem(lied)).toMatch(/on the way/)
})

test('attack 343: the text of another model is not that of the folder', async () => {
  const [weights, sizes, bare] = ['weights', 'sizes', 'bare'].map((name) => inFolder(name)) as [string, string, string]
  for (const other of [weights, sizes, bare]) cpSync(model, other, { recursive: true })
  const file = readFileSync(join(weights, 'model.safetensors'))
  file[file.length - 2]! ^= 1
  writeFileSync(join(weights, 'model.safetensors'), file)
  const config = JSON.parse(readFileSync(join(sizes, 'config.json'), 'utf8'))
  writeFileSync(join(sizes, 'config.json'), JSON.stringify({ ...config, layer_norm_epsilon: 1e-6 }))
  rmSync(join(bare, 'model.safetensors'))
  const check = (folder: string) =>
    commands.run(['check', inFolder('receipt.json'), '--result', inFolder('said.json'), '--tokenizer', folder])
  expect((await check(model)).status).toBe(4)
  for (const other of [weights, sizes]) {
    const { status, stdout } = await check(other)
    expect([status, stdout.replace(/\s+/g, ' ')]).toEqual([1, expect.stringMatching(/another model.*\[OTHER_RESULT\]/)])
  }
  const { status, stderr } = await check(bare)
  expect([status, stderr]).toEqual([2, expect.stringContaining('model.safetensors')])
})

test('several prompts go on together, as the chance of a seed has it, in the order they were given', async () => {
  writeFileSync(inFolder('prompts'), 'The\n## Install\n')
  const chance = ['--tokens', '6', '--temperature', '0.9', '--seed', '7', '--json', ...files]
  const said = () => JSON.parse(readFileSync(inFolder('said.json'), 'utf8')).completions
  expect((await infer('--model', model, '--prompts', inFolder('prompts'), ...chance)).status).toBe(0)
  const prompts = said().map(({ prompt, tokens }: { prompt: string; tokens: number[] }) => [prompt, tokens.length])
  expect(prompts).toEqual([
    ['The', 6],
    ['## Install', 6],
  ])
  const given = { ...(await givenResult(inFolder('receipt.json'), inFolder('said.json'))), tokenizer: model }
  expect(await inferenceResult.problem(given)).toBeNull()
})

test('a model that lies, prompts that do not fit and no prompts are refused before work starts', async () => {
  const bad = inFolder('bad')
  cpSync(model, bad, { recursive: true })
  const config = JSON.parse(readFileSync(join(bad, 'config.json'), 'utf8'))
  writeFileSync(join(bad, 'config.json'), JSON.stringify({ ...config, n_embd: 256 }))
  const [here, prompt] = [
    ['--model', model],
    ['--prompt', 'x'],
  ]
  for (const [args, why] of [
    [['--model', bad, ...prompt], 'where 257 by 256 belongs'],
    [['--model', inFolder('nowhere'), ...prompt], 'no config.json'],
    [[...here, ...prompt, '--tokens', '128'], 'beyond the 128'],
    [here, 'give --prompt'],
  ] as const) {
    const { status, stderr } = await infer(...args, ...files)
    expect(status).toBe(2)
    expect(stderr.replace(/\s+/g, ' ')).toContain(why)
  }
})
