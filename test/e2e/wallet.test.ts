import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { toHex } from '../../src/core/bytes/hex.ts'
import { openCommandLine } from '../support/commandLine.ts'
import { testSigner } from '../support/testSigner.ts'

const home = mkdtempSync(join(tmpdir(), 'touchstone-wallet-'))
const line = openCommandLine({ ...process.env, TOUCHSTONE_HOME: home, NO_COLOR: '1' })
afterAll(async () => {
  await line.close()
  rmSync(home, { recursive: true, force: true })
})
const write = (name: string, text: string): string => {
  writeFileSync(join(home, name), text, { mode: 0o600 })
  return join(home, name)
}

test('a wallet is made from a key, shown, and refused a wrong password; no line of it holds the key', async () => {
  const secret = '07'.repeat(32)
  const account = toHex(testSigner(7).publicKey)
  const [from, password, wrong] = [
    write('key', `${secret}\n`),
    write('password', 'correct horse\n'),
    write('wrong', 'else else\n'),
  ]
  const made = await line.run(['wallet', 'new', '--from', from, '--password-file', password])
  expect(made).toMatchObject({ status: 0, stdout: expect.stringContaining(`account: ${account}\n`) })
  const path = join(home, 'wallets', 'main.json')
  const before = readFileSync(path, 'utf8')
  const again = await line.run(['wallet', 'new', '--password-file', password])
  expect(again).toMatchObject({ status: 2, stderr: expect.stringContaining('WALLET_EXISTS') })
  const refused = await line.run(['wallet', 'password', '--password-file', wrong, '--new-password-file', password])
  expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('this is not the password of') })
  expect(readFileSync(path, 'utf8')).toBe(before)
  const shown = await line.run(['wallet', 'show'])
  expect(shown).toMatchObject({ status: 0, stdout: `${account}\n` })
  const list = await line.run(['wallet', 'list', '--json'])
  expect(JSON.parse(list.stdout)).toEqual([{ name: 'main', kind: 'touchstone', account }])
  const said = [made, again, refused, shown, list].map(({ stdout, stderr }) => stdout + stderr).join('')
  expect(said + before).not.toContain(secret.slice(0, 12))
  expect(readdirSync(join(home, 'wallets'))).toEqual(['main.json'])
})

test.each([
  [['new', 'Main'], 'BAD_WALLET_NAME'],
  [['new', '../x'], 'BAD_WALLET_NAME'],
  [['new', 'other'], 'NO_PASSWORD'],
  [['show', 'none'], 'WALLET_MISSING'],
  [['new', 'other', '--from', '/dev/null'], 'NOT_A_SECRET'],
  [['new', 'other', '--password-file', '/dev/null'], 'PASSWORD_FILE'],
])('wallet %j is refused with %s', async (words, code) => {
  expect(await line.run(['wallet', ...words])).toMatchObject({ status: 2, stderr: expect.stringContaining(code) })
})

const NOBODY = ['--node', 'http://127.0.0.1:9']
const KEY = 'ab'.repeat(32)
test.each([
  [['chain', 'head', ...NOBODY], 'NODE_NOT_RUNNING'],
  [['chain', 'account', 'me', ...NOBODY], 'USAGE'],
  [['faucet', KEY, ...NOBODY], 'NODE_NOT_RUNNING'],
  [['wallet', 'send', KEY, '1.5.5', ...NOBODY], 'USAGE'],
  [['wallet', 'send', 'me', '1', ...NOBODY], 'USAGE'],
  [['wallet', 'send', KEY, '1', '--from', 'none', ...NOBODY], 'WALLET_MISSING'],
  // No password is asked for before a node answers.
  [['wallet', 'send', KEY, '1', ...NOBODY], 'NODE_NOT_RUNNING'],
])('%j without a node is refused with %s', async (words, code) => {
  expect(await line.run(words)).toMatchObject({ status: 2, stderr: expect.stringContaining(code) })
})

test('a password that is too short is refused before anything is written', async () => {
  const short = await line.run(['wallet', 'new', 'short'], { TOUCHSTONE_WALLET_PASSWORD: 'seven77' })
  expect(short).toMatchObject({ status: 2, stderr: expect.stringContaining('PASSWORD_TOO_SHORT') })
  expect(await line.run(['wallet', 'show', 'short'])).toMatchObject({ status: 2 })
})
