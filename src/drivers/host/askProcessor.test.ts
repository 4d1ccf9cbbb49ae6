import { basename, dirname } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TestSnp } from '../../../test/support/attest/testSnp.ts'
import { snpCertificates } from '../../core/attest/snpCertificates.ts'
import { askProcessor, type RequestFiles } from './askProcessor.ts'

const amd = new TestSnp()
const GUIDS = [
  '63da758de6644564adc5f4b93be8accd',
  '4ab7b379bbac4fe4a02f05aef327c782',
  'c0b406a4a803495297433fb6014cd0ae',
]

/** The table as a host writes it: entries, one of zeros, then the files. */
function tableOf(files: readonly (readonly [guid: string, bytes: Uint8Array])[]): Buffer {
  let at = 24 * (files.length + 1)
  const heads = files.map(([guid, { length }]) => {
    const head = Buffer.concat([Buffer.from(guid, 'hex'), Buffer.alloc(8)])
    head.writeUInt32LE(at, 16)
    head.writeUInt32LE(length, 20)
    at += length
    return head
  })
  return Buffer.concat([...heads, Buffer.alloc(24), ...files.map(([, bytes]) => bytes)])
}

const whole = tableOf(GUIDS.map((guid, i) => [guid, amd.certificates[i]!]))

/** A kernel that answers requests as configfs-tsm does. */
function kernel(changes: Partial<Record<string, Uint8Array>> = {}) {
  const requests = new Map<string, Uint8Array>()
  const files: RequestFiles = {
    mkdir: async (path) => requests.set(path, new Uint8Array(0)),
    writeFile: async (path, bytes) => {
      if (basename(path) === 'inblob') requests.set(dirname(path), bytes)
    },
    readFile: async (path) => {
      const name = basename(path)
      if (changes[name]) return changes[name]
      if (name === 'outblob') return amd.report({ reportData: requests.get(dirname(path))! })
      return name === 'auxblob' ? whole : Buffer.from(name === 'provider' ? 'sev_guest\n' : '1\n')
    },
    rmdir: async (path) => void requests.delete(path),
  }
  return { files, requests }
}

test('the processor signs what it was asked, with its chain, and the request is taken back', async () => {
  const { files, requests } = kernel()
  const data = new Uint8Array(64).fill(9)
  const evidence = await askProcessor(data, files)
  expect(evidence).toMatchObject({ kind: 'sev-snp', certificates: amd.certificates.map((one) => new Uint8Array(one)) })
  expect(evidence?.kind === 'sev-snp' && evidence.report.subarray(0x50, 0x90)).toEqual(data)
  expect(requests.size).toBe(0)
})

test.each([
  ['another maker', { provider: Buffer.from('cca_guest\n') }],
  ['a request that somebody else wrote to', { generation: Buffer.from('2\n') }],
  ['a host that hands out no certificates', { auxblob: Buffer.alloc(0) }],
])('%s gives no evidence, and leaves no request', async (_, changes) => {
  const { files, requests } = kernel(changes)
  expect(await askProcessor(new Uint8Array(64), files)).toBeNull()
  expect(requests.size).toBe(0)
})

test("Intel's processor hands out its quote, without what it is judged with", async () => {
  const { files, requests } = kernel({ provider: Buffer.from('tdx_guest\n'), outblob: Buffer.from('quote') })
  const quote = new Uint8Array(Buffer.from('quote'))
  expect(await askProcessor(new Uint8Array(64), files)).toEqual({ kind: 'tdx', quote, collateral: {} })
  expect(requests.size).toBe(0)
})

test('a machine that is not confidential gives none', async () => {
  expect(await askProcessor(new Uint8Array(64))).toBeNull()
})

test('a table finds its chain in any order, beside entries of others', () => {
  const entries = GUIDS.map((guid, i) => [guid, amd.certificates[i]!] as const)
  const other = ['a8074bc2a25a483eaae639c045a0b8a1', Buffer.from('another')] as const
  fc.assert(
    fc.property(fc.shuffledSubarray([...entries, other], { minLength: 4 }), (shuffled) => {
      expect(snpCertificates(new Uint8Array(tableOf(shuffled)))).toEqual(
        amd.certificates.map((one) => new Uint8Array(one)),
      )
    }),
  )
  for (const left of entries) expect(snpCertificates(tableOf(entries.filter((one) => one !== left)))).toBeNull()
})

test('no table, however made, reads outside of itself', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(whole.length - 1), fc.nat(255), (junk, at, byte) => {
      snpCertificates(junk)
      const bent = new Uint8Array(whole)
      bent[at] = byte
      for (const one of snpCertificates(bent) ?? []) expect(one.length).toBeLessThan(whole.length)
    }),
  )
})
