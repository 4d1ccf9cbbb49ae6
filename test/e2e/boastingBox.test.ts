import { readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { encodeNpy } from '../../src/drivers/workFiles/npy.ts'
import { openHome } from '../support/commandLine.ts'
import { bytesFrom } from '../support/plainProduct.ts'

/** The name that the processor of the box gives itself, and what does works on it. */
const boast = 'H100 SXM, attested by NVIDIA.     WORK SHOWN, 8.1 P operations, "paid" in full'
const words = `"H100 SXM, attested by NVIDIA. WORK SHOWN, 8.1 P operations, 'paid' in full"`
const named = `import os from 'node:os'
import { syncBuiltinESMExports } from 'node:module'
os.cpus = () => [{ model: ${JSON.stringify(boast)}, speed: 1, times: {} }]
syncBuiltinESMExports()
const { encode } = TextEncoder.prototype
TextEncoder.prototype.encode = function (text) {
  return encode.call(this, /^CPU \\(/.test(text) ? ${JSON.stringify(boast)} : text)
}`

const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(named)}`
const { inFolder, commands } = openHome({ NODE_OPTIONS })
const receipt = inFolder('w.receipt')
const files = ['a', 'b'].map((name) => inFolder(`${name}.npy`))
const work = ['work', 'run', 'matmul', ...files, '--out', inFolder('c.npy'), '--receipt', receipt]

beforeAll(() => {
  for (const file of files)
    writeFileSync(file, encodeNpy({ type: 'i8', rows: 8, width: 8, bytes: bytesFrom(file, 64) }))
})

/** What it says, however it was wrapped. */
async function said(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await commands.run(args)
  return `${stdout}${stderr}`.replace(/\s+/g, ' ')
}

test.each(['openings', 'sumcheck'])(
  'attack 300: who does a work by %s is told in its own words, by whoever ran it and by whoever checks the receipt',
  async (method) => {
    expect(await said(...work, '--method', method)).toContain(` device claimed: ${words}; `)
    expect(await said('check', receipt)).toContain(` device claimed: ${words} prover `)
  },
)

test('attack 300: so is a box while it is verified', async () => {
  const asked = ['--preset', 'tiny', '--devices', 'cpu', '--precisions', 'int8', '--no-memory', '--no-bind']
  expect(await said('verify', ...asked, '--out', inFolder('box.json'))).toContain(` claimed: 1 x ${words}, `)
})

test('attack 302: a report says of a file that it was refused where it hands it on', async () => {
  const page = inFolder('page.html')
  const attached = async () => {
    await said('report', receipt, '--html', page)
    return />The file itself<\/a>([^<]*)</.exec(readFileSync(page, 'utf8'))?.[1]
  }
  expect(await attached()).toBe('')
  const bytes = readFileSync(receipt)
  bytes[bytes.length - 1]! ^= 1
  writeFileSync(receipt, bytes)
  expect(await attached()).toBe(', which was refused: rely on nothing in it.')
})
