import { Buffer } from 'node:buffer'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { encodeNpy } from '../../src/drivers/workFiles/npy.ts'
import { bundleOf, makeHardware } from '../support/attest/attestRun.ts'
import { TestDevice } from '../support/attest/testNvidia.ts'
import { openHome } from '../support/commandLine.ts'
import { bytesFrom } from '../support/plainProduct.ts'

const { inFolder, commands } = openHome()
const hardware = makeHardware(Date.now())
const gpu = new TestDevice(hardware.vendor)

/** The hardware of the box, which signs whatever nonce its prover hands it. */
const signing = createServer((socket) =>
  socket.once('data', (nonce) => {
    const { arch, report, chain } = bundleOf([gpu], nonce).devices[0]!
    const [told, certified] = [report, chain].map((bytes) => Buffer.from(bytes).toString('hex'))
    socket.end(JSON.stringify({ arch, report: told, chain: certified }))
  }),
).listen(inFolder('socket'))

afterAll(() => void signing.close())

const written = (name: string, content: string | Uint8Array): string => {
  writeFileSync(inFolder(name), content)
  return inFolder(name)
}

const matrix = (name: string) =>
  written(`${name}.npy`, encodeNpy({ type: 'i8', rows: 40, width: 40, bytes: bytesFrom(name, 1600) }))

const work = [
  ...['work', 'run', 'matmul', matrix('a'), matrix('b'), '--method', 'attest', '--out', inFolder('c.npy')],
  ...['--receipt', inFolder('work.receipt'), '--evidence', inFolder('evidence.json')],
]
const box = {
  NODE_OPTIONS: `--import ${new URL('../support/attestingCpu.mjs', import.meta.url).href}`,
  ATTESTING_SOCKET: inFolder('socket'),
}
const policy = ['--policy', written('policy.json', JSON.stringify(hardware.policy))]
const rims = hardware.rims.flatMap((rim, i) => ['--rim', written(`${i}.xml`, rim)])
const ocsp = hardware.answers([gpu]).flatMap((answer, i) => ['--ocsp', written(`${i}.ocsp`, answer)])

test('hardware that attests for a work, by all that its reader brings, ends with 0', async () => {
  const { status, stdout } = await commands.run([...work, ...policy, ...rims, ...ocsp], box)
  expect([status, stdout]).toEqual([0, expect.stringContaining(gpu.pdi)])
})

test('attack 262: a work whose evidence leaves a doubt is no yes to whoever brings what it is judged by', async () => {
  const { status, stdout } = await commands.run([...work, ...policy, ...ocsp], box)
  expect([status, stdout]).toEqual([4, expect.stringContaining('NO_GOLDEN_VALUES')])
  const told = await commands.run([...work, ...policy, ...rims, '--json'], box)
  expect([told.status, JSON.parse(told.stdout)]).toMatchObject([4, { doubts: ['NO_REVOCATION'] }])
})
