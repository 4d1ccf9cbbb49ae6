import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { faultOf } from '../../../test/suites/sshBoxSuite.ts'
import { keyPair } from '../../../test/support/keyPair.ts'
import { whyNoOpenSsh } from '../../../test/support/openSshServer.ts'
import { startSshServer } from '../../../test/support/sshServer.ts'
import { openSshBox } from './openSshBox.ts'

test.skipIf(whyNoOpenSsh() !== null)('the password of a box is not offered to the host that leads there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-hop-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [home, settings] = [join(folder, 'home'), join(folder, 'config')]
  mkdirSync(home)
  const hop = await startSshServer({ home, user: 'renter', password: 'secret', hostKey: keyPair().private })
  onTestFinished(() => hop.close())
  const login = '  HostName 127.0.0.1\n  User renter\n  IdentitiesOnly yes\n  IdentityFile /dev/null\n'
  const hosts = `Host box\n${login}  ProxyJump hop\nHost hop\n${login}  Port ${hop.port}\n`
  writeFileSync(settings, `${hosts}  UserKnownHostsFile ${folder}/known\n`, { mode: 0o600 })
  const env = { TOUCHSTONE_SSH_PASSWORD: 'secret', TOUCHSTONE_HOME: folder }
  const target = { address: `ssh -F ${settings} box`, env, proverArguments: [], flags: { keep: false } }
  const opened = openSshBox({ ...target, isPersonal: true, say: () => {} }, new AbortController().signal)
  const { detail } = await faultOf(opened)
  expect(detail).toMatchObject({ code: 'SSH_AUTH_FAILED', address: `ssh://renter@127.0.0.1:${hop.port}` })
  expect(detail).toMatchObject({ tried: '' })
})
