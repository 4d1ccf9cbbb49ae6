import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { systemClock } from '../../system/systemClock.ts'
import { openSession } from './sshSession.ts'
import { stampedOutput } from './stampedOutput.ts'

/** A box in a thread of its own, which sends the size of a root every 20 ms. */
const BOX = `
const { parentPort } = require('node:worker_threads')
const ssh2 = require('ssh2')
const { private: key } = ssh2.utils.generateKeyPairSync('ed25519')
new ssh2.Server({ hostKeys: [key] }, (client) => {
  client.on('error', () => {}).on('authentication', (context) => context.accept())
  client.on('session', (accept) => accept().on('exec', (take) => {
    const channel = take()
    const timer = setInterval(() => channel.write(Buffer.alloc(49)), 20)
    channel.on('close', () => clearInterval(timer))
  }))
}).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port) })
`

test('attack 447: over SSH too each piece has the moment when it came, however busy this thread is', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-ssh-'))
  const box = new Worker(BOX, { eval: true, execArgv: [] })
  const [port] = await once(box, 'message')
  const never = new AbortController().signal
  const trust = { ownKnownHostsFile: join(folder, 'known'), knownHostsFiles: [], onFirstUse: () => true }
  const to = { user: 'box', host: '127.0.0.1', port }
  const session = await openSession(to, { auth: { password: 'any' }, ...trust }, never)
  try {
    const { output, cameUs, end } = stampedOutput(await session.exec(['run'], 'testing', never), session.cameUs)
    const stamps: number[] = []
    const reading = (async () => {
      for await (const _ of output) stamps.push(cameUs())
    })()
    const untilUs = systemClock.monotonicUs() + 1_500_000
    // 150 ms of somebody else's work at a time.
    while (systemClock.monotonicUs() < untilUs) {
      await turn()
      const fromUs = systemClock.monotonicUs()
      while (systemClock.monotonicUs() < fromUs + 150_000) {}
    }
    end()
    await reading
    const gaps = stamps.slice(1).map((us, i) => us - stamps[i]!)
    expect(stamps.length).toBeGreaterThan(40)
    // Stamped where they are read, most would come together and the others 150 ms apart.
    expect(gaps.filter((us) => us > 5_000 && us < 80_000).length).toBeGreaterThan(0.5 * gaps.length)
  } finally {
    session.abort()
    await box.terminate()
    rmSync(folder, { recursive: true })
  }
})
