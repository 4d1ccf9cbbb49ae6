import type { CheckSignature } from '../../core/bytes/ed25519.ts'
import { fromHex } from '../../core/bytes/hex.ts'
import { heldAgainst } from '../../core/certificate/checkCertificate.ts'
import { MAX_CERTIFICATE_BYTES, tooLarge } from '../../core/certificate/envelope.ts'
import type { Checked } from '../../core/certificate/reportOfCheck.ts'
import { type Revocations, revocationSchema } from '../../core/certificate/signers.ts'
import { type Catalogue, catalogueSchema, contradictionsIn } from '../../core/identify/catalogue.ts'
import { parseClaim } from '../../core/identify/parseClaim.ts'
import type { OpeningChecker } from '../../ports/openingChecker.ts'
import { checkEvidence, type GivenFile } from './checkEvidence.ts'

/** What the reader of a certificate brings along. Keys are 64 hex digits, taken from their owners and not from the file. */
export interface CheckOptions {
  /** Validators whose word you take. Nothing signed by others alone is read. */
  readonly trust: readonly string[]
  /** Must be among the signers; trusted too. */
  readonly requireSigners?: readonly string[]
  /** So many trusted keys must have signed; 1 unless told otherwise. */
  readonly leastSigners?: number
  /** Refuses the certificate of any other box. */
  readonly prover?: string
  /** What you were sold, as in "8x H100 SXM": the box is held against that, whatever its signer was told. */
  readonly claim?: string
  /** Refuses what is older. */
  readonly maxAgeSeconds?: number
  /** Keys that ended, as in revoked.json. It gives trust to none: name a successor in `trust` (attack 396). */
  readonly revocations?: Revocations
  /** Judges by this catalogue of cards instead of the one that came along. */
  readonly catalogue?: Catalogue
  /** The certificate of the summary that is checked. */
  readonly full?: Uint8Array | string
  /** The reader's time, in milliseconds since 1970, where the clock of this machine is not meant. */
  readonly nowMs?: number
  /** Threads to recompute on; all cores unless told otherwise. */
  readonly threads?: number
  readonly onProgress?: (done: number, of: number) => void
  readonly signal?: AbortSignal
}

export interface CheckDeps {
  catalogue(): Promise<Catalogue>
  openChecker(threads: number | undefined): Promise<OpeningChecker>
  nowMs(): number
  /** Where the machine has a faster library than core's for the same rule. */
  readonly checkSignature?: CheckSignature
}

/** The whole check in one call, for Node or for a browser: a bad file is an answer, a bad option throws. */
export const createCheck =
  <T>(deps: CheckDeps, tell: (checked: Checked) => T) =>
  async (file: Uint8Array | string, options: CheckOptions): Promise<T> => {
    refuseUnknown(options)
    const required = keysOf('requireSigners', options.requireSigners)
    const { leastSigners = 1, nowMs = deps.nowMs() } = options
    const catalogue = options.catalogue === undefined ? await deps.catalogue() : catalogueOf(options.catalogue)
    const rules = {
      nowMs: numberOf('nowMs', nowMs),
      catalogue,
      claim: options.claim === undefined ? undefined : claimOf(options.claim, catalogue),
      trusted: [...keysOf('trust', options.trust), ...required],
      revocations: revocationsOf(options.revocations),
      threshold: numberOf('leastSigners', leastSigners, 1),
      required,
      prover: options.prover === undefined ? null : keyOf('prover', options.prover),
      maxAgeSeconds: options.maxAgeSeconds === undefined ? null : numberOf('maxAgeSeconds', options.maxAgeSeconds),
      checkSignature: deps.checkSignature,
    }
    const threads = options.threads === undefined ? undefined : numberOf('threads', options.threads, 1)
    const given = { file: bytesOf(file), full: options.full === undefined ? null : bytesOf(options.full) }
    const recomputing = {
      sample: undefined,
      openChecker: () => deps.openChecker(threads),
      onOpenings: options.onProgress ?? (() => {}),
    }
    const found = await checkEvidence(given, rules, recomputing, options.signal ?? new AbortController().signal)
    return tell({ ...found, checked: heldAgainst(rules.claim, found.checked), ...rules })
  }

const OPTIONS: Readonly<Record<keyof CheckOptions, true>> = {
  trust: true,
  requireSigners: true,
  leastSigners: true,
  prover: true,
  claim: true,
  maxAgeSeconds: true,
  revocations: true,
  catalogue: true,
  full: true,
  nowMs: true,
  threads: true,
  onProgress: true,
  signal: true,
}

/** A rule under another name, such as that of the command line, would be looked at by nobody (attack 194). */
function refuseUnknown(options: object): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name))
  if (unknown !== undefined) throw new TypeError(`there is no option ${unknown}`)
}

const keysOf = (name: string, keys: readonly string[] = []): Uint8Array[] =>
  keys.map((key, i) => keyOf(`${name}[${i}]`, key))

function keyOf(name: string, text: string): Uint8Array {
  const key = fromHex(text.toLowerCase(), 32)
  if (!key) throw new TypeError(`${name} is not a key of 64 hex digits`)
  return key
}

/** By figures that are no numbers any card is as claimed (attack 445). */
function catalogueOf(given: Catalogue): Catalogue {
  if (catalogueSchema.safeParse(given).success && contradictionsIn(given).next().done) return given
  throw new TypeError('catalogue is not what parseCatalogue gives')
}

function claimOf(text: string, catalogue: Catalogue): string {
  const read = parseClaim(text, catalogue)
  if (!read.ok) throw new TypeError(`claim: ${read.problem}; ${read.nextStep}`)
  return text
}

/** Every comparison with what is no number is false, so such a rule would refuse nothing (attack 145). */
function numberOf(name: string, value: number, least = 0): number {
  if (Number.isFinite(value) && value >= least) return value
  throw new TypeError(`${name} is not a number of ${least} or more`)
}

function revocationsOf(given: Revocations = []): Revocations {
  const read = revocationSchema.shape.keys.safeParse(given)
  if (!read.success) throw new TypeError('revocations are not the keys of a revoked.json')
  return read.data
}

function bytesOf(file: Uint8Array | string): GivenFile {
  if (typeof file !== 'string') return file
  return file.length > MAX_CERTIFICATE_BYTES ? tooLarge(file.length) : new TextEncoder().encode(file)
}
