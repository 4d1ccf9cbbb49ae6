import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { connectSsh, type SshBoxOptions } from '../../src/drivers/remote/ssh/connectSsh.ts'
import { SCRIPTS } from '../suites/sshBoxSuite.ts'
import { keyPair } from './keyPair.ts'
import { makeRelease } from './makeRelease.ts'
import { type SshServerOptions, startSshServer } from './sshServer.ts'

export const never = new AbortController().signal
export const hostKey = keyPair().private

/** Boxes behind SSH servers of npm install, and a folder for them, for the tests of one file. */
export function useSshBoxes() {
  const root = mkdtempSync(join(tmpdir(), 'touchstone-ssh-odd-'))
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  let count = 0

  /** A box for the time of `use`; whatever was opened is closed after it. */
  async function withBox(
    server: Partial<SshServerOptions>,
    box: Partial<SshBoxOptions>,
    use: (connect: () => ReturnType<typeof connectSsh>, home: string) => Promise<void>,
    script: keyof typeof SCRIPTS = 'echo',
  ): Promise<void> {
    const folder = join(root, `box-${count++}`)
    const home = join(folder, 'home')
    mkdirSync(home, { recursive: true })
    const running = await startSshServer({ home, user: 'renter', password: 'secret', hostKey, ...server })
    const release = makeRelease(join(folder, 'release'), {
      files: { 'p.sh': SCRIPTS[script] },
      command: ['sh', 'p.sh'],
    })
    const options: SshBoxOptions = {
      auth: { password: 'secret' },
      knownHostsFiles: [],
      ownKnownHostsFile: join(folder, 'known_hosts'),
      onFirstUse: () => true,
      flavours: [{ directory: release, machine: 'any', carriesNode: false }],
      keep: false,
      graceMs: 150,
      ...box,
    }
    const opened: Awaited<ReturnType<typeof connectSsh>>[] = []
    try {
      await use(async () => {
        const connected = await connectSsh(`ssh://renter@127.0.0.1:${running.port}`, options, never)
        opened.push(connected)
        return connected
      }, home)
    } finally {
      await Promise.all(opened.map((connected) => connected.close()))
      await running.close()
    }
  }

  return { root, withBox }
}
