import { checkEvidence, type GivenFile } from '../../apps/check/checkEvidence.ts'
import { requireClaim } from '../../apps/shared/requireClaim.ts'
import { attestationReader } from '../../core/attest/attestationReader.ts'
import { equalBytes } from '../../core/bytes/bytes.ts'
import { type Signer, withFastYes } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { answerKind } from '../../core/certificate/answerEvidence.ts'
import type { CheckedEvidence, ReaderRules } from '../../core/certificate/checkCertificate.ts'
import { boundByClock } from '../../core/certificate/clockBound.ts'
import { counterSign, mendLineEnd } from '../../core/certificate/envelope.ts'
import { isProblem, PROBLEMS } from '../../core/certificate/problems.ts'
import { productKind } from '../../core/certificate/productEvidence.ts'
import { type OwnFiles, provenKind, receiptKind, type WithInputs } from '../../core/certificate/receiptEvidence.ts'
import { issueSummary } from '../../core/certificate/summary.ts'
import { PRODUCT_TYPE } from '../../core/work/methods/sumcheck/productReceipt.ts'
import { ANSWER_TYPE } from '../../core/work/methods/zk/answerReceipt.ts'
import { PROVEN_TYPE, WORK_TYPE } from '../../core/work/receipt.ts'
import { patchRunner } from '../../core/work/runPatch.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { openCheckerEngines, openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { loadSigners, type Signers } from '../../drivers/system/loadSigners.ts'
import { opensslCheck } from '../../drivers/system/nativeSigner.ts'
import { usableCores } from '../../drivers/system/usableCores.ts'
import { ensureApart, writeAside } from '../../drivers/system/writeAside.ts'
import { dataFolder } from '../../drivers/system/xdgFolders.ts'
import { openOwnThreadChecker } from '../../drivers/verifier/openOwnThreadChecker.ts'
import { openThreadedChecker } from '../../drivers/verifier/openThreadedChecker.ts'
import { type AttestationFiles, attestationRules, VENDOR_OPTIONS, vendorFiles } from '../attestationRules.ts'
import { EXIT, exitOfCheck } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { bar } from '../render/showSteps.ts'
import { openTerminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { ownKey, readCatalogue, system } from '../system.ts'
import { answerFrom } from '../work/answerFiles.ts'
import { inputsIn, replaying } from '../work/inputFiles.ts'
import { productFrom, publishedCodes } from '../work/productFiles.ts'
import type { ShownCheck } from './checkAnswer.ts'
import { checkJson, checkLines } from './checkLines.ts'
import { nonceOfReceipt } from './nonceOfReceipt.ts'
import { readGiven } from './readGiven.ts'
import { shownName } from './shownName.ts'

/** What the command line says. */
export interface CheckFlags extends AttestationFiles {
  readonly trust?: readonly Uint8Array[]
  readonly signer?: readonly Uint8Array[]
  readonly signers: number
  readonly prover?: Uint8Array
  readonly maxAge?: number
  readonly claim?: string
  readonly revoked?: string
  readonly catalogue?: string
  readonly sample?: number
  readonly full?: string
  readonly summary?: string
  readonly countersign?: string
  readonly inputs?: string
  readonly replay?: string
  readonly given?: readonly string[]
  readonly result?: string
  readonly tokenizer?: string
  readonly certificate?: string
  readonly model?: Uint8Array
  readonly code?: readonly Uint8Array[]
  readonly nonce?: Uint8Array | undefined
  readonly receipt?: string
  readonly at?: number
  readonly verbose?: boolean
  readonly json?: boolean
  /** Receipts of works say nothing of a box, and are not known here (attack 186). */
  readonly boxesOnly?: boolean
}

/** Checks a file, shows what was found, and adds what the owner of a key asked for. */
export async function checkFile(
  file: string,
  flags: CheckFlags,
  { env }: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const { full, catalogue, revoked } = flags
  ensureApart([flags.summary, flags.countersign], [file, full, catalogue, revoked, ...vendorFiles(flags)])
  const own = ownKey(env, 'validator')
  const { shown, signed } = await runCheck(file, flags, { env, own: own.publicKey }, signal)
  const { checked } = shown
  const written = isProblem(signed) ? [] : writeSigned(signed, checked, flags, own)
  showCheck(shown, flags, env, written)
  return exitOfCheck(checked)
}

/** What was found, for a person or a script. */
export function showCheck(
  shown: ShownCheck,
  { json, verbose }: Pick<CheckFlags, 'json' | 'verbose'>,
  env: NodeJS.ProcessEnv,
  written: readonly string[] = [],
): void {
  if (json) return void process.stdout.write(`${JSON.stringify(checkJson(shown))}\n`)
  const people = openTerminal(process.stdout, env)
  const page = { colours: people.colours, columns: people.columns, isVerbose: verbose === true }
  people.lines(checkLines(shown, page, written))
}

/** The check itself, its progress on a terminal; `signed` is the certificate that was read. */
export async function runCheck(
  file: string,
  flags: CheckFlags,
  { env, own }: { readonly env: NodeJS.ProcessEnv; readonly own: Uint8Array },
  signal: AbortSignal,
): Promise<{ readonly shown: ShownCheck; readonly signed: GivenFile }> {
  const terminal = openTerminal(process.stderr, env)
  const showReplay = (segment: number, of: number) =>
    terminal.live(`  replay ${bar((segment + 1) / of, terminal.barWidth)} ${segment + 1}/${of}`)
  const inputs = flags.inputs === undefined ? null : inputsIn(flags.inputs)
  const isBare = flags.result === undefined && flags.given === undefined
  const files = isBare ? null : (await openOwnFiles()).ownFiles(flags)
  const atHand = flags.replay === undefined ? inputs : replaying(flags.replay, showReplay, files?.see)
  const named = [own, ...(flags.trust ?? []), ...(flags.signer ?? [])]
  const signers = loadSigners(named, flags.revoked, dataFolder(env))
  const nonce =
    flags.receipt === undefined
      ? flags.nonce
      : await nonceOfReceipt(flags.receipt, signers, flags.at ?? system.clock.wallTime().getTime(), signal)
  const rules = await readerRules({ ...flags, nonce }, signers, { inputs: atHand, files })
  const full = flags.full === undefined ? null : await readGiven(flags.full, signal)
  const given = { file: await readGiven(file, signal), full }
  const recomputing = {
    sample: flags.sample === undefined ? undefined : { count: flags.sample, randomness: system.randomness },
    openChecker: usableCores() === 1 ? openOwnThreadChecker : openThreadedChecker,
    onOpenings: (done: number, of: number) =>
      terminal.live(`  openings ${bar(done / of, terminal.barWidth)} ${done}/${of}`),
  }
  const found = await checkEvidence(given, rules, recomputing, signal)
  terminal.live('')
  if (!found.checked.problem) refuseUnused(flags, found.checked, shownName(file))
  const box = flags.certificate === undefined ? null : await readGiven(flags.certificate, signal)
  const checked = box === null ? found.checked : await clocked(found.checked, box, rules, recomputing, signal)
  terminal.live('')
  return { shown: { file: shownName(file), ...found, checked, ...rules, ...signers }, signed: given.full ?? given.file }
}

/** W5.8. A receipt beside the certificate of its box, all of which is checked, its age too; who must have signed which is asked of the first. */
async function clocked(
  checked: CheckedEvidence,
  certificate: GivenFile,
  rules: ReaderRules,
  recomputing: Parameters<typeof checkEvidence>[2],
  signal: AbortSignal,
): Promise<CheckedEvidence> {
  if (checked.kind !== 'receipt' || checked.problem) return checked
  const itsRules = { ...rules, required: [], prover: null }
  const { checked: box } = await checkEvidence({ file: certificate, full: null }, itsRules, recomputing, signal)
  if (box.problem) throw fault('NOT_A_BOUND', { why: `${PROBLEMS[box.problem.code].meaning} [${box.problem.code}]` })
  if (box.kind !== 'certificate' || exitOfCheck(box) !== EXIT.genuine)
    throw fault('NOT_A_BOUND', { why: 'it is no certificate that a check of it ends with 0' })
  const { receipt, work } = checked.read
  const { bound, doubts } = boundByClock(
    {
      prover: toHex(receipt.proverKey),
      ...{
        credited: checked.figures.credited,
        elapsedUs: checked.isWatched ? receipt.elapsedUs : null,
        unit: work.unit,
      },
    },
    { prover: toHex(box.read.run.challenge.proverKey), devices: box.ours.devices },
  )
  // Who shows few openings may claim any speed, and is then bounded by nothing (attack 266).
  const { name, secure } = box.read.preset
  const insecure = secure ? [] : [{ code: 'NO_SUCH_SPEED', where: `preset ${name} is insecure` } as const]
  return { ...checked, clock: bound, doubts: [...checked.doubts, ...doubts, ...insecure] }
}

/** Whoever compares no file does not wait for what reads them. */
const openOwnFiles = () => import('../work/results/ownFiles.ts')

const KIND_NAMES: Readonly<Record<CheckedEvidence['kind'], string>> = {
  certificate: 'a certificate',
  attestation: 'evidence of a hardware vendor',
  summary: 'a summary',
  receipt: 'the receipt of a work',
  product: 'the receipt of a proven product',
  answer: 'the receipt of a private answer',
  refused: 'refused',
}

const KINDS_OF_OPTION: Readonly<Partial<Record<keyof CheckFlags, readonly CheckedEvidence['kind'][]>>> = {
  sample: ['certificate'],
  catalogue: ['certificate'],
  trust: ['certificate', 'summary', 'receipt', 'product', 'answer'],
  revoked: ['certificate', 'summary', 'receipt', 'product', 'answer'],
  inputs: ['receipt'],
  replay: ['receipt'],
  given: ['product', 'answer', 'receipt'],
  result: ['product', 'receipt', 'answer'],
  tokenizer: ['receipt'],
  certificate: ['receipt'],
  code: ['product'],
  model: ['answer'],
  claim: ['certificate'],
  nonce: ['attestation'],
  receipt: ['attestation'],
  at: ['attestation'],
  policy: ['attestation', 'certificate'],
  rim: ['attestation', 'certificate'],
  ocsp: ['attestation', 'certificate'],
  crl: ['attestation', 'certificate'],
  collateral: ['attestation', 'certificate'],
  summary: ['certificate'],
  countersign: ['certificate'],
}

/** Whose word is taken: evidence of a hardware vendor needs nobody's, a receipt beside it does. */
const ABOUT_SIGNERS: readonly string[] = ['trust', 'revoked']

/** What judges a part that not every file of a kind has: evidence of hardware vendors, codes of operands, texts. */
const ABOUT_PARTS: readonly string[] = [...VENDOR_OPTIONS, 'code', 'tokenizer']

/** What a file lacks of these parts, in words; empty where it has it. */
function bareOf(checked: CheckedEvidence): string {
  if (checked.kind === 'receipt') return checked.read.work.spec.kind === 'inference' ? '' : ' without texts'
  if (checked.kind === 'product') return checked.read.receipt.codes ? '' : ' without codes of its operands'
  if (checked.kind !== 'certificate') return ''
  if (checked.read.statement.predicate.attestation === undefined) return ' without evidence of a hardware vendor'
  return checked.tier === null ? ' whose evidence of a hardware vendor this version does not check' : ''
}

/** Whoever asks for more than the plain check must not get a yes from one that left it out (attacks 189, 247, 265, 292). */
function refuseUnused(flags: CheckFlags, checked: CheckedEvidence, file: string): void {
  const { kind } = checked
  const bareFor = (option: keyof CheckFlags) => (ABOUT_PARTS.includes(option) ? bareOf(checked) : '')
  const options = Object.keys(KINDS_OF_OPTION) as (keyof CheckFlags)[]
  const isUnused = (option: keyof CheckFlags) =>
    !(KINDS_OF_OPTION[option]!.includes(kind) || (flags.receipt && ABOUT_SIGNERS.includes(option))) ||
    bareFor(option) !== ''
  const unused = options.find((option) => flags[option] !== undefined && isUnused(option))
  if (!unused) return
  throw fault('NOT_FOR_THIS_KIND', { file, kind: `${KIND_NAMES[kind]}${bareFor(unused)}`, option: `--${unused}` })
}

/** What the owner of a key adds to a file that holds: a summary, or a signature. Tells in a line each what it wrote. */
function writeSigned(
  file: Uint8Array,
  checked: CheckedEvidence,
  { summary, countersign }: CheckFlags,
  signer: Signer,
): string[] {
  if (checked.kind !== 'certificate' || checked.problem) return []
  const told: string[] = []
  const text = Buffer.from(mendLineEnd(file) ?? file).toString('latin1')
  if (summary !== undefined) {
    const isOurs = checked.read.signerKeys.some((key) => equalBytes(key, signer.publicKey))
    const written = isOurs ? issueSummary(checked.read, text, signer) : null
    if (written === null) throw fault(isOurs ? 'OTHER_VERSION' : 'NOT_YOUR_SIGNATURE')
    writeAside(summary, written)
    told.push(`  summary        ${summary}`)
  }
  if (countersign !== undefined && exitOfCheck(checked) === EXIT.genuine) {
    const written = checked.read.version > 1 ? counterSign(text, signer) : null
    if (written === null) throw fault('OTHER_VERSION')
    writeAside(countersign, written)
    told.push(`  countersigned  ${countersign}`)
  } else if (countersign !== undefined) told.push('  countersigned  nothing: only what ends with 0 is')
  return told
}

async function readerRules(flags: CheckFlags, { trusted, revocations }: Signers, atHand: AtHand): Promise<ReaderRules> {
  const required = flags.signer ?? []
  const catalogue = await readCatalogue(flags.catalogue)
  if (flags.claim !== undefined) requireClaim(flags.claim, catalogue)
  return {
    nowMs: system.clock.wallTime().getTime(),
    catalogue,
    claim: flags.claim,
    ...{ trusted, revocations },
    threshold: flags.signers,
    required,
    prover: flags.prover ?? null,
    maxAgeSeconds: flags.maxAge ?? null,
    checkSignature: withFastYes(opensslCheck),
    kinds: flags.boxesOnly ? undefined : workKinds(flags, atHand),
    attestation: attestationReader({
      ...attestationRules(flags),
      nonce: flags.nonce ?? null,
      atMs: flags.at ?? null,
      devices: flags.receipt === undefined ? null : 1,
    }),
  }
}

/** What a reader has of a work beside its receipt. */
interface AtHand {
  readonly inputs: WithInputs | null
  readonly files: OwnFiles | null
}

const openPatches = async () => patchRunner(await openExactEngine(), EXACT_OPS)

const workKinds = (flags: CheckFlags, { inputs, files }: AtHand) => ({
  [WORK_TYPE]: receiptKind(openPatches, inputs, files),
  [PROVEN_TYPE]: provenKind(
    async () => ({ runPatch: await openPatches(), engines: await openCheckerEngines() }),
    inputs,
    files,
  ),
  [PRODUCT_TYPE]: productKind(productFrom(flags), publishedCodes(flags)),
  [ANSWER_TYPE]: answerKind(flags.model ?? null, answerFrom(flags)),
})
