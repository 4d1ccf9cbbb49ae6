import { Buffer } from 'node:buffer'
import { Refused } from '../../../src/core/attest/refusals.ts'
import { verifySnp } from '../../../src/core/attest/snp.ts'
import { verifyTdx } from '../../../src/core/attest/tdx.ts'
import { flipped, rememberingChecker } from './flips.ts'
import { pinOf } from './testAuthority.ts'
import { TestSnp } from './testSnp.ts'
import { TestTdx } from './testTdx.ts'

/** Evidence in pieces of bytes, and what judges it. */
interface FlippedEvidence {
  readonly pieces: readonly Uint8Array[]
  verify(pieces: readonly Uint8Array[]): Promise<unknown>
}

const reportData = Buffer.alloc(64, 9)

/** AMD's: report, chain and list. */
export function snpEvidence(atMs: number): FlippedEvidence {
  const amd = new TestSnp()
  const rules = { atMs, roots: [pinOf(amd.holders[2]!)], check: rememberingChecker() }
  return {
    pieces: [amd.report({ reportData }), ...amd.certificates, amd.crl(atMs)],
    verify: ([report, ...rest]) => verifySnp({ report: report!, certificates: rest.slice(0, 3), crl: rest[3]! }, rules),
  }
}

const TEXTS = ['tcb_info', 'tcb_info_issuer_chain', 'qe_identity', 'qe_identity_issuer_chain'] as const
const HEX = ['tcb_info_signature', 'qe_identity_signature', 'root_ca_crl', 'pck_crl'] as const

/** Intel's: quote and collateral. What is written as hex is flipped as bytes: its letters may be large or small. */
export function tdxEvidence(atMs: number, newer?: 'long'): FlippedEvidence {
  const intel = new TestTdx(atMs)
  const rules = { atMs, roots: [pinOf(intel.root)], check: rememberingChecker(), allowed: ['UpToDate'] }
  const collateral = intel.collateral()
  const texts = TEXTS.map((name) => Buffer.from(collateral[name]!))
  const bytes = HEX.map((name) => Buffer.from(collateral[name]!, 'hex'))
  const named = (pieces: readonly Uint8Array[]) => [
    ...TEXTS.map((name, i) => [name, Buffer.from(pieces[i]!).toString('latin1')]),
    ...HEX.map((name, i) => [name, Buffer.from(pieces[TEXTS.length + i]!).toString('hex')]),
  ]
  return {
    pieces: [intel.quote({ reportData, ...(newer ? { newer } : {}) }), ...texts, ...bytes],
    verify: ([quote, ...rest]) => verifyTdx({ quote: quote!, collateral: Object.fromEntries(named(rest)) }, rules),
  }
}

export const bitsIn = ({ pieces }: FlippedEvidence): number => 8 * pieces.reduce((sum, { length }) => sum + length, 0)

/** Bits that may be flipped without anybody noticing. */
export async function unnoticed({ pieces, verify }: FlippedEvidence, bits: Iterable<number>): Promise<number[]> {
  // That it is accepted as it is makes every refusal below one of the flip.
  await verify(pieces)
  const found: number[] = []
  for (const bit of bits) {
    let left = bit
    const at = pieces.findIndex(({ length }) => {
      if (left < 8 * length) return true
      left -= 8 * length
      return false
    })
    try {
      await verify(pieces.map((piece, i) => (i === at ? flipped(piece, left) : piece)))
      found.push(bit)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
    }
  }
  return found
}
