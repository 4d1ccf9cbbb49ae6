import { fromBase64, toBase64 } from '../bytes/base64.ts'
import { closeNonce, openNonce } from './binding.ts'
import { type Bundle, looksLikeBundle, readBundle, writeBundle } from './bundle.ts'
import { type BundleRules, type CheckedBundle, verifyBundle } from './checkBundle.ts'
import type { AttestDoubt } from './doubts.ts'
import { type AttestationPolicy, policySchema } from './policy.ts'
import { malformed, type Refusal, Refused, refuse } from './refusals.ts'
import { rememberSignatures } from './rememberSignatures.ts'
import type { SignatureChecker } from './signatureChecker.ts'

/** What a reader brings along to judge evidence of hardware vendors; none of it comes from the file. */
export interface AttestationRules {
  readonly policy: AttestationPolicy
  readonly check: SignatureChecker
  /** For a file by itself: the nonce the reader chose, and when the evidence was made; null is the word of the file, and now. */
  readonly nonce: Uint8Array | null
  readonly atMs: number | null
  /** How many devices the file is of; null takes any number. */
  readonly devices?: number | null
  /** Golden values and answers about revocation beside those in the file. */
  readonly rims: readonly Uint8Array[]
  readonly ocsp: readonly Uint8Array[]
  /** For processors: AMD's list of revoked certificates, and Intel's statements by the names of its service. */
  readonly crl?: Uint8Array | null
  readonly collateral?: Readonly<Record<string, string>>
}

/** The run that evidence must belong to (§9). */
export interface BoundRun {
  readonly x: Uint8Array
  readonly queries: readonly Uint8Array[]
  readonly proverKey: Uint8Array
  /** How many devices of class `gpu` took part. */
  readonly gpus: number
  /** Of each device, the chips of the cards that it may be; none asks for none. */
  readonly chips: readonly (readonly string[])[]
  readonly atMs: number
}

/** How a certificate carries evidence: a bundle before the run and one after it. */
export interface CarriedEvidence {
  readonly format: string
  readonly open: readonly string[]
  readonly close: readonly string[]
}

/** The one format of certificates that this version knows. */
export const CARRIED_FORMAT = 'touchstone-evidence-1'

/** Judges evidence of hardware vendors. A page that does without it shows certificates that carry any as unchecked. */
export interface AttestationReader {
  /** Whether a file is such evidence by itself. */
  reads(file: Uint8Array): boolean
  checkFile(file: Uint8Array, nowMs: number): Promise<CheckedBundle | Refusal>
  /** Two bundles as a certificate carries them, with what the reader brings along for others who judge them. */
  carry(open: Uint8Array, close: Uint8Array): Promise<CarriedEvidence | Refusal>
  /** Null where the format is not known. */
  checkRun(carried: CarriedEvidence, run: BoundRun): Promise<CheckedBundle | Refusal | null>
}

/** Throws where a policy is none (attack 426), or hears nothing of what is handed in: nobody would notice (attack 282). */
export function attestationReader(rules: AttestationRules): AttestationReader {
  const { policy, rims, ocsp } = rules
  const read = policySchema.safeParse(policy)
  if (!read.success) throw new RangeError(`attest: the policy is none: ${read.error.issues[0]!.path.join('.')}`)
  const isUnheard = (policy.rim === 'ignored' && rims.length > 0) || (policy.ocsp === 'ignored' && ocsp.length > 0)
  if (isUnheard) throw new RangeError('attest: the policy ignores what is handed in')
  // Nobody would notice these either: no nonce is asked for, and nothing is ever too old (attack 424).
  if (rules.nonce !== null && rules.nonce?.length !== 32) throw new RangeError('attest: the nonce is 32 bytes, or null')
  if (rules.atMs !== null) requireTime(rules.atMs)
  return readerBy(rules)
}

function requireTime(atMs: number): void {
  if (!Number.isFinite(atMs)) throw new RangeError('attest: the time is milliseconds since 1970')
}

const readerBy = (rules: AttestationRules): AttestationReader => ({
  reads: looksLikeBundle,
  checkFile: (file, nowMs) =>
    caught(async () => {
      const atMs = rules.atMs ?? nowMs
      requireTime(atMs)
      const check = rememberSignatures(rules.check)
      const bundle = readBundle(file)
      const [got, expected] = [bundle.devices.length, rules.devices ?? bundle.devices.length]
      if (got !== expected) refuse('OTHER_DEVICES', { got, expected })
      return verifyBundle(endorsed(bundle, rules), { ...rules, check, atMs, proverKey: new Uint8Array(0) })
    }),
  carry: (open, close) =>
    caught(async () => ({
      format: CARRIED_FORMAT,
      open: [toBase64(open)],
      close: [toBase64(writeBundle(withoutIdleWord(endorsed(readBundle(close), rules), rules)))],
    })),
  checkRun: async (carried, run) =>
    carried.format === CARRIED_FORMAT ? await caught(() => verifyRun(carried, run, rules)) : null,
})

async function caught<T>(work: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refused) return error.refusal
    throw error
  }
}

const endorsed = (bundle: Bundle, rules: AttestationRules): Bundle => ({
  ...bundle,
  rims: [...bundle.rims, ...rules.rims],
  ocsp: [...bundle.ocsp, ...rules.ocsp],
  cpu: endorsedCpu(bundle.cpu, rules),
})

/** What the file itself lacks; where it has it, both must hold (attack 260). */
function endorsedCpu(cpu: Bundle['cpu'], { crl, collateral = {} }: AttestationRules): Bundle['cpu'] {
  if (cpu?.kind === 'tdx') return { ...cpu, collateral: isSilent(cpu.collateral) ? collateral : cpu.collateral }
  return cpu && crl && !cpu.crl ? { ...cpu, crl } : cpu
}

const isSilent = (collateral: Readonly<Record<string, string>>): boolean => Object.keys(collateral).length === 0

/**
 * A processor's report is carried where the operator names an image that it may vouch for, and has what judges it: else it
 * could only do harm.
 */
function withoutIdleWord(bundle: Bundle, { policy }: AttestationRules): Bundle {
  const isIdle = policy.cpu.measurements.length === 0 || (bundle.cpu?.kind === 'tdx' && isSilent(bundle.cpu.collateral))
  return isIdle ? { ...bundle, cpu: null } : bundle
}

/** §9: the same devices before and after, as many as took part, bound to everything that happened in between. */
async function verifyRun(carried: CarriedEvidence, run: BoundRun, rules: AttestationRules): Promise<CheckedBundle> {
  requireTime(run.atMs)
  const [before, after] = [bundleOf(carried.open), endorsed(bundleOf(carried.close), rules)]
  const check = rememberSignatures(rules.check)
  const common: Omit<BundleRules, 'nonce'> = { ...rules, check, atMs: run.atMs, proverKey: run.proverKey }
  // By the same values and answers as the second, but for the processor, who speaks at the end alone (attack 388).
  const opened = await verifyBundle(
    { ...before, rims: after.rims, ocsp: after.ocsp, cpu: null },
    { ...common, ...WITHOUT_CPU, nonce: openNonce(run.x), policy: { ...rules.policy, cpu: NO_CPU } },
  )
  const signed = opened.devices.map(({ report }) => report.signed)
  const closed = await verifyBundle(after, { ...common, nonce: closeNonce(run.x, run.queries, signed) })
  const identities = (checked: CheckedBundle) => checked.devices.map(({ arch, pdi }) => `${arch} ${pdi}`).join()
  if (identities(opened) !== identities(closed)) refuse('OTHER_DEVICES')
  const gpus = closed.devices.filter(({ arch }) => arch !== 'LS10').length
  if (gpus !== run.gpus) refuse('OTHER_DEVICES', { got: gpus, expected: run.gpus })
  ensureOwnChips(closed, run.chips)
  const isNew = ({ code, where }: AttestDoubt) =>
    !closed.doubts.some((doubt) => doubt.code === code && doubt.where === where)
  return { ...closed, doubts: [...closed.doubts, ...opened.doubts.filter(isNew)] }
}

/** A chip that attests and another that works: the evidence was lent. Each stands for one device (attack 385). */
function ensureOwnChips({ devices }: CheckedBundle, wanted: BoundRun['chips']): void {
  const attested = devices.map(({ model }) => model.split(' ', 1)[0]!)
  const left = [...attested]
  for (const chips of wanted) {
    const own = left.findIndex((chip) => chips.includes(chip))
    if (chips.length > 0 && own === -1)
      refuse('OTHER_CHIP', { got: attested.join(' '), expected: [...new Set(chips)].join(' ') })
    if (own !== -1) left.splice(own, 1)
  }
}

const NO_CPU: AttestationPolicy['cpu'] = { measurements: [], tdxStatus: [] }
const WITHOUT_CPU = { crl: null, collateral: {} }

function bundleOf(entries: readonly string[]): Bundle {
  const [only, more] = entries
  if (only === undefined || more !== undefined) return malformed('bundle')
  return readBundle(fromBase64(only) ?? malformed('base64'))
}
