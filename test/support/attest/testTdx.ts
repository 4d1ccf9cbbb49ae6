import { Buffer } from 'node:buffer'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { type Holder, issue, pemOf, revokedBy, signRaw } from './testAuthority.ts'
import { integer, octets, oid, sequence } from './writeDer.ts'

const INTEL = '1.2.840.113741.1.13.1'
const FMSPC = 'b0c06f000000'
const DAY = 86_400_000

export interface TdxWishes {
  readonly reportData: Uint8Array
  /** Of version 5, with the short body of version 4 or the longer one, in which a domain may be served by another. */
  readonly newer?: 'short' | 'long' | 'served'
  readonly debug?: boolean
  readonly movable?: boolean
  /** All eight bytes of them. */
  readonly attributes?: readonly number[]
  /** Where the host put a byte of its own. */
  readonly hostDataAt?: number
}

export interface CollateralWishes {
  readonly revoked?: readonly Holder[]
  readonly status?: string
  readonly fmspc?: string
  readonly enclaveSvn?: number
  readonly atMs?: number
}

/** A made-up processor in the form of Intel's: quotes over any data, and the vendor's statements about it. */
export class TestTdx {
  readonly root = issue({ name: 'Test SGX Root CA', ca: true, pathLength: 1, kind: 'p256' })
  readonly authority = issue({ name: 'Test PCK Platform CA', ca: true, pathLength: 0, kind: 'p256' }, this.root)
  readonly signing = issue({ name: 'Test TCB Signing', kind: 'p256' }, this.root)
  readonly processor: Holder
  readonly #atMs: number

  constructor(atMs: number) {
    this.#atMs = atMs
    const pair = (name: string, value: Uint8Array) => sequence(oid(`${INTEL}.${name}`), value)
    const levels = Array.from({ length: 17 }, (_, i) => pair(`2.${i + 1}`, integer(i === 16 ? 11 : 3)))
    const value = sequence(
      pair('2', sequence(...levels)),
      pair('3', octets(Buffer.alloc(2))),
      pair('4', octets(Buffer.from(FMSPC, 'hex'))),
    )
    this.processor = issue({ name: 'Test PCK', kind: 'p256', more: { [INTEL]: { value } } }, this.authority)
  }

  quote({ reportData, debug = false, movable = false, attributes = [], hostDataAt, newer }: TdxWishes): Buffer {
    const isLong = newer === 'long' || newer === 'served'
    const body = Buffer.alloc(isLong ? 648 : 584)
    if (newer === 'served') body[600] = 1
    body.set([5, 0, 2], 0)
    body[120] = debug ? 1 : 0
    body[123] = movable ? 0x30 : 0x10
    body.set(attributes, 120)
    if (hostDataAt !== undefined) body[hostDataAt] = 1
    body.fill(0x77, 136, 184)
    body.set(reportData, 520)
    const header = Buffer.alloc(48)
    header.set([newer ? 5 : 4, 0, 2, 0, 0x81, 0, 0, 0])
    const said = newer ? [le(isLong ? 3 : 2, 2), le(body.length, 4)] : []
    const signed = Buffer.concat([header, ...said, body])
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-64)
    const auth = Buffer.alloc(32, 4)
    const enclave = Buffer.alloc(384)
    enclave[48] = 0x11
    enclave.fill(0xdc, 128, 160)
    enclave.writeUInt16LE(2, 256)
    enclave.writeUInt16LE(4, 258)
    enclave.set(createHash('sha256').update(key).update(auth).digest(), 320)
    const chain = pemOf([this.processor, this.authority, this.root])
    const certified = Buffer.concat([
      enclave,
      signRaw(this.processor.key, enclave),
      le(auth.length, 2),
      auth,
      le(5, 2),
      le(chain.length, 4),
      chain,
    ])
    const data = Buffer.concat([signRaw(privateKey, signed), key, le(6, 2), le(certified.length, 4), certified])
    return Buffer.concat([signed, le(data.length, 4), data])
  }

  collateral({
    revoked = [],
    status = 'UpToDate',
    fmspc = FMSPC,
    enclaveSvn = 4,
    atMs,
  }: CollateralWishes = {}): Record<string, string> {
    const from = (atMs ?? this.#atMs) - DAY
    const dated = { issueDate: instant(from), nextUpdate: instant(from + 30 * DAY) }
    const masked = { mrsigner: '00'.repeat(48), attributes: '00'.repeat(8), attributesMask: 'FF'.repeat(8) }
    const components = (...values: number[]) => Array.from({ length: 16 }, (_, i) => ({ svn: values[i] ?? 0 }))
    const tcb = JSON.stringify({
      id: 'TDX',
      version: 3,
      ...dated,
      fmspc,
      pceId: '0000',
      tdxModule: masked,
      tdxModuleIdentities: [],
      tcbLevels: [
        { tcb: { sgxtcbcomponents: components(9), tdxtcbcomponents: components(9), pcesvn: 11 }, tcbStatus: 'Newer' },
        {
          tcb: { sgxtcbcomponents: components(2), tdxtcbcomponents: components(5, 0, 2), pcesvn: 11 },
          tcbStatus: status,
        },
      ],
    })
    const enclave = JSON.stringify({
      id: 'TD_QE',
      version: 2,
      ...dated,
      miscselect: '00000000',
      miscselectMask: 'FFFFFFFF',
      attributes: `11${'00'.repeat(15)}`,
      attributesMask: `FBFFFFFFFFFFFFFF${'00'.repeat(8)}`,
      mrsigner: 'DC'.repeat(32),
      isvprodid: 2,
      tcbLevels: [{ tcb: { isvsvn: enclaveSvn }, tcbStatus: 'UpToDate' }],
    })
    const chain = pemOf([this.signing, this.root]).toString()
    const by = (text: string) => signRaw(this.signing.key, Buffer.from(text)).toString('hex')
    return {
      tcb_info: tcb,
      tcb_info_signature: by(tcb),
      tcb_info_issuer_chain: chain,
      qe_identity: enclave,
      qe_identity_signature: by(enclave),
      qe_identity_issuer_chain: chain,
      root_ca_crl: revokedBy(this.root, revoked, from).toString('hex'),
      pck_crl: revokedBy(this.authority, revoked, from).toString('hex'),
    }
  }
}

const instant = (atMs: number): string => new Date(atMs).toISOString().replace('.000Z', 'Z')

const le = (value: number, length: number): Buffer => {
  const out = Buffer.alloc(length)
  out.writeUIntLE(value, 0, length)
  return out
}
