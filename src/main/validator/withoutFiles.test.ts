import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { runProgram } from '../../../test/support/processes.ts'

const home = mkdtempSync(join(tmpdir(), 'touchstone-without-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const program = (name: string) => JSON.stringify(new URL(`../../../dist/${name}.js`, import.meta.url))

/** What a program of ours says that may hold few files, and fills and frees them as it likes. */
async function whereFilesAreFew(script: string): Promise<unknown> {
  const before = `
    const fs = require('node:fs')
    const files = []
    const fill = () => { try { for (;;) files.push(fs.openSync('/dev/null')) } catch {} }
    const free = () => { for (const file of files.splice(0)) fs.closeSync(file) }
    const codeOf = (error) => error.detail?.code ?? error.code ?? String(error)
    const tell = (said) => fs.writeSync(1, JSON.stringify(said))
    const never = new AbortController().signal`
  const all = `${before}\nvoid (async () => { ${script} })().then(() => process.exit())`
  const { code, out, err } = await runProgram(
    ['sh', '-c', 'ulimit -n 200; exec "$@"', 'sh', process.execPath, '-e', all],
    { ...process.env, TOUCHSTONE_HOME: home },
  )
  expect([code, err]).toEqual([0, ''])
  return JSON.parse(out)
}

describe.skipIf(process.platform === 'win32')('attack 480: no file was left when something was needed first', () => {
  test('a validator had all that it dials with, and dials again once there are files', async () => {
    const said = await whereFilesAreFew(`
      const { verifyJobs } = await import(${program('main/validator/validatorVerify')})
      const box = { id: 'a', address: 'ssh://a@127.0.0.1:1', claim: null }
      const attestation = { rims: [], ocsp: [] }
      const config = { boxes: [box], base: '/', devices: 'cpu', preset: 'tiny', attestation }
      const verify = verifyJobs(config, { signer: {} }, { env: process.env, log: {}, hub: null })
      const clock = { wallTime: () => new Date(), monotonicUs: () => 0 }
      const dial = () => verify({ kind: 'light', box }, { clock }, never).catch(codeOf)
      fill()
      await dial()
      free()
      tell(await dial())`)
    expect(said).toBe('BOX_UNREACHABLE')
  })

  test('the thread that holds connections begins with another dial, and the process goes on', async () => {
    const said = await whereFilesAreFew(`
      const { dialStamped, listenStamped } = await import(${program('drivers/system/stampedSocket')})
      const { noRoom } = await import(${program('drivers/system/noRoom')})
      const ours = (error) => codeOf(noRoom('there', error) ?? error)
      const dial = () => dialStamped({ host: '127.0.0.1', port: 1 }, never).catch(ours)
      fill()
      const without = [await dial(), await listenStamped({ host: '127.0.0.1', port: 0 }, () => {}).catch(ours)]
      free()
      tell([...without, await dial()])`)
    expect(said).toEqual(['NO_ROOM_TO_DIAL', 'NO_ROOM_TO_DIAL', 'ECONNREFUSED'])
  })

  test('threads that check walks begin again, and without those for openings nothing is started', async () => {
    const said = await whereFilesAreFew(`
      const { chooseRounds } = await import(${program('drivers/host/hostRounds')})
      const { openWalkChecker } = await import(${program('drivers/host/openWalkChecker')})
      const { openThreadedChecker } = await import(${program('drivers/verifier/openThreadedChecker')})
      await chooseRounds()
      const bytes = (length) => new Uint8Array(length)
      const stretch = { target: 'cpu', seed: bytes(32), nonce: bytes(32), lane: 0, from: null, to: bytes(64), steps: 1 }
      const walks = openWalkChecker(2)
      const check = () => walks.check([stretch], never).catch(codeOf)
      fill()
      const without = [typeof await check(), await (await openThreadedChecker(1)).ready.catch(codeOf)]
      free()
      tell([...without, await check()])`)
    expect(said).toEqual(['string', 'ERR_WORKER_INIT_FAILED', 0])
  })
})

describe.skipIf(process.platform === 'win32')(
  'attack 481: no file was left when the name of a box was looked up',
  () => {
    /** Where one name is known, one server never answers, and the zone of another name is broken. */
    const NAMES = `
    const server = require('node:dgram').createSocket('udp4')
    server.on('message', (question, from) => {
      if (question.includes('silent')) return
      const head = Buffer.from(question)
      head.writeUInt16BE(question.includes('broken') ? 0x8182 : 0x8180, 2)
      const isKnown = question.includes('good') && question.readUInt16BE(question.length - 4) === 1
      head.writeUInt16BE(isKnown ? 1 : 0, 6)
      const answer = Buffer.from('c00c00010001000000000004cb007107', 'hex')
      server.send(isKnown ? Buffer.concat([head, answer]) : head, from.port, from.address)
    })
    await new Promise((resolve) => server.bind(0, '127.0.0.1', resolve))
    const servers = ['127.0.0.1:' + server.address().port]
    const { addressesOf } = await import(${program('drivers/system/hostAddresses')})
    const ask = (name) => addressesOf(name, servers).catch(codeOf)`

    test('it was not asked for, which is no fault of the box', async () => {
      const said = await whereFilesAreFew(`${NAMES}
      const { addressToDial } = await import(${program('main/validator/foreignBox')})
      fill()
      const without = await Promise.all(['box.good.test', 'localhost', 'nowhere', '203.0.113.7'].map(ask))
      const dialled = await addressToDial('ssh://root@box.good.test:22', true).catch(codeOf)
      free()
      tell([...without, dialled, await ask('box.good.test')])`)
      const ours = 'NO_ROOM_TO_DIAL'
      expect(said).toEqual([ours, ours, ours, ['203.0.113.7'], ours, ['203.0.113.7']])
    })

    test('files that are gone while it is asked for are ours too, and what its zone says stays its own', async () => {
      const said = await whereFilesAreFew(`${NAMES}
      const broken = ask('box.broken.test')
      const none = ask('box.none.test')
      fill()
      tell([await broken, await none])`)
      expect(said).toEqual([[], []])
    })

    test('nor is it one that its key cannot be remembered then, or no Node be carried to it', async () => {
      const said = await whereFilesAreFew(`
      const { judgeFault } = await import(${program('apps/validator/fleet/outcomeOf')})
      const { carryNode } = await import(${program('drivers/remote/carryNode')})
      const { rememberHostKey } = await import(${program('drivers/remote/ssh/knownHosts')})
      const at = process.env.TOUCHSTONE_HOME
      const outcome = (act) => act().then(String, (error) => judgeFault(error).outcome)
      fill()
      const remembered = await outcome(async () => rememberHostKey(at + '/known_hosts', 'a line'))
      const carried = await outcome(() => carryNode({ id: 'x', files: [], command: [] }, process.execPath, at))
      free()
      tell([remembered, carried])`)
      expect(said).toEqual(['fault', 'fault'])
    })

    test('a server that never answers is nobody of ours', { timeout: 30_000 }, async () => {
      const said = await whereFilesAreFew(`${NAMES}
      const silent = ask('box.silent.test')
      fill()
      tell(await silent)`)
      expect(said).toEqual([])
    })
  },
)
