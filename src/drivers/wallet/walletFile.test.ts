import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { scrypt } from '@noble/hashes/scrypt.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporaryFolder.ts'
import { fromHex, toHex } from '../../core/bytes/hex.ts'
import { systemRandomness } from '../system/systemRandomness.ts'
import { changePassword, createWallet, openWallet, readWallet } from './walletFile.ts'

// Less than a real one asks, so that a hundred tries take seconds.
const cheap = { randomness: systemRandomness, cost: { n: 2 ** 10, r: 8, p: 1 } as const }
const secret = new Uint8Array(32).map((_, i) => 200 - i)
const facts = { kind: 'touchstone', account: 'ab'.repeat(32) } as const
const fresh = async (password = 'correct horse') => {
  const path = join(temporaryFolder(), 'wallets', 'main.json')
  await createWallet(path, { ...facts, secret, password }, cheap)
  return path
}
const code = (name: string) => ({ detail: expect.objectContaining({ code: name }), blame: 'user' })

describe('a wallet', () => {
  test('gives its secret to its password alone, and shows its account to anybody', async () => {
    const path = await fresh()
    expect(readWallet(path)).toEqual(facts)
    expect(await openWallet(path, 'correct horse')).toEqual({ ...facts, secret })
    const before = readFileSync(path, 'utf8')
    expect(before).not.toContain(toHex(secret).slice(0, 16))
    for (const wrong of ['', 'correct hors', 'Correct horse', 'correct horse '])
      await expect(openWallet(path, wrong)).rejects.toMatchObject(code('WRONG_PASSWORD'))
    expect(readFileSync(path, 'utf8')).toBe(before)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('property: any password opens what it sealed, however its letters are composed', async () => {
    const passwords = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(passwords, async (password) => {
        const path = join(temporaryFolder(), `${toHex(systemRandomness.bytes(8))}.json`)
        await createWallet(path, { ...facts, secret, password: password.normalize('NFD') }, cheap)
        expect((await openWallet(path, password.normalize('NFC'))).secret).toEqual(secret)
      }),
      { numRuns: 8 },
    )
  })

  test('is what other libraries make of docs/spec/wallet.md', async () => {
    const { kdf, cipher } = JSON.parse(readFileSync(await fresh(), 'utf8'))
    const key = scrypt('correct horse', fromHex(kdf.salt, 32)!, { N: kdf.n, r: kdf.r, p: kdf.p, dkLen: 32 })
    const bound = new TextEncoder().encode(`touchstone-wallet-1/touchstone/${facts.account}`)
    const opened = chacha20poly1305(key, fromHex(cipher.nonce, 12)!, bound).decrypt(fromHex(cipher.sealed, 48)!)
    expect(new Uint8Array(opened)).toEqual(secret)
  })

  test('is never overwritten, by two at once neither', async () => {
    const path = await fresh()
    const before = readFileSync(path, 'utf8')
    const again = () => createWallet(path, { ...facts, secret, password: 'another one' }, cheap)
    await expect(again()).rejects.toMatchObject(code('WALLET_EXISTS'))
    expect(readFileSync(path, 'utf8')).toBe(before)
    const next = join(path, '..', 'next.json')
    const both = await Promise.allSettled(
      ['one password', 'two passwords'].map((password) => createWallet(next, { ...facts, secret, password }, cheap)),
    )
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('has a new password after it was changed, and the old one before', async () => {
    const path = await fresh()
    const before = readFileSync(path, 'utf8')
    await expect(changePassword(path, 'wrong', 'a new one', cheap)).rejects.toMatchObject(code('WRONG_PASSWORD'))
    expect(readFileSync(path, 'utf8')).toBe(before)
    await changePassword(path, 'correct horse', 'a new one', cheap)
    await expect(openWallet(path, 'correct horse')).rejects.toMatchObject(code('WRONG_PASSWORD'))
    expect((await openWallet(path, 'a new one')).secret).toEqual(secret)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })
})

describe('what is no wallet', () => {
  test('a changed letter anywhere opens nothing, and leaves the file alone', async () => {
    const path = await fresh()
    const good = readFileSync(path, 'utf8')
    const letters = [...good.matchAll(/[0-9a-f]/g)].map(({ index }) => index!)
    for (const at of letters.filter((_, i) => i % 17 === 0)) {
      const bad = good.slice(0, at) + (good[at] === '1' ? '2' : '1') + good.slice(at + 1)
      writeFileSync(path, bad)
      const error = await openWallet(path, 'correct horse').catch((caught) => caught)
      expect(['WRONG_PASSWORD', 'WALLET_DAMAGED']).toContain(error.detail?.code)
      expect(readFileSync(path, 'utf8')).toBe(bad)
    }
  })

  test('one that asks for another cost, is too large, broken, a folder, or not there', async () => {
    const path = await fresh()
    const good = readFileSync(path, 'utf8')
    const bads = [
      '',
      '{}',
      good.replace('1024', '1073741824'),
      good.replace('1024', '1000'),
      good.replace('"r": 8', '"r": 80'),
    ]
    for (const bad of [...bads, `${good}${' '.repeat(5000)}`, good.replace('{', '{"more":1,')]) {
      writeFileSync(path, bad)
      expect(() => readWallet(path)).toThrow(expect.objectContaining(code('WALLET_DAMAGED')))
    }
    const folder = join(path, '..', 'folder')
    mkdirSync(folder)
    expect(() => readWallet(folder)).toThrow(expect.objectContaining(code('WALLET_DAMAGED')))
    expect(() => readWallet(`${path}.no`)).toThrow(expect.objectContaining(code('WALLET_MISSING')))
    expect(existsSync(`${path}.no`)).toBe(false)
  })

  test.skipIf(process.platform === 'win32')('one that others can read is not used', async () => {
    const path = await fresh()
    for (const mode of [0o640, 0o604, 0o660]) {
      chmodSync(path, mode)
      await expect(openWallet(path, 'correct horse')).rejects.toMatchObject(code('WALLET_EXPOSED'))
    }
    chmodSync(path, 0o600)
    expect(readWallet(path)).toEqual(facts)
  })
})
