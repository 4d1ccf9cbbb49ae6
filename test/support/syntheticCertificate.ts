import { fromBase64 } from '../../src/core/bytes/base64.ts'
import type { Signer } from '../../src/core/bytes/ed25519.ts'
import { sealEnvelope } from '../../src/core/certificate/envelope.ts'
import { type IssueInputs, issueCertificate } from '../../src/core/certificate/issueCertificate.ts'
import { type JudgeInputs, judgeRun } from '../../src/core/certificate/judgeRun.ts'
import type { ReadCertificate } from '../../src/core/certificate/readCertificate.ts'
import { readCertificate } from '../../src/core/certificate/readEvidence.ts'
import { issueSummary } from '../../src/core/certificate/summary.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import { copyBandwidth, expectedRate } from '../../src/core/identify/expected.ts'
import { requiredClass } from '../../src/core/identify/undersizedParts.ts'
import type { Inventory } from '../../src/core/inventory/inventory.ts'
import type { ProtocolVersion } from '../../src/core/params/constants.ts'
import { PRECISION_NAMES, type Precision } from '../../src/core/params/precision.ts'
import { PRESETS } from '../../src/core/params/presets.ts'
import { claimed } from '../../src/core/params/provenance.ts'
import { type Challenge, readyMessage, resultMessage } from '../../src/core/proof/challenge.ts'
import { devicesOf, fillBytes } from '../../src/core/proof/part.ts'
import { kindOf, type Part, type PlannedPart, rootCount } from '../../src/core/proof/partKinds.ts'
import { planRun } from '../../src/core/proof/planRun.ts'
import { nonceHash } from '../../src/core/proof/seeds.ts'
import { type PartEvidence, partQuery, type Run } from '../../src/core/proof/verifyPart.ts'
import { modelOf } from '../sim/shippedCatalogue.ts'
import { testSigner } from './testSigner.ts'
import { VALIDATOR } from './verifyInProcess.ts'

export const PROVER = testSigner(7)

export interface Synthetic {
  /** By which the signer judges, and from which the card's own rates are taken unless `card` is another. */
  readonly catalogue: Catalogue
  readonly id: string
  readonly devices?: number
  readonly claim?: string | null
  /** Of the rates and the bandwidth of the card. */
  readonly share?: number
  readonly issuedMs?: number
  readonly version?: ProtocolVersion
  /** A validator that asks for something else than a whole run. */
  readonly replan?: (plan: readonly PlannedPart[]) => readonly PlannedPart[]
  /** Whose rates the run shows; the catalogue's where left out. */
  readonly shownBy?: Catalogue
  /** A validator from before this attack. */
  readonly asBefore?: JudgeInputs['asBefore']
}

/** Rates and bandwidth in the middle of what is expected of a model. */
const shownBy = (catalogue: Catalogue, id: string, share: number) => {
  const model = modelOf(catalogue, id)
  const rate = (precision: Precision) => share * (expectedRate(model, precision, catalogue.rules)?.centre ?? 0)
  const bandwidth = share * copyBandwidth(model, catalogue.rules)!
  return { model, rate, bandwidth, precisions: PRECISION_NAMES.filter((precision) => rate(precision) > 0) }
}

/**
 * A certificate of preset mainnet as the validator of tests would issue it for cards that show what the catalogue expects.
 * Everything in it holds but its openings, of which there are none.
 */
export const syntheticCertificate = (given: Synthetic): string => issueCertificate(syntheticIssue(given), VALIDATOR)

/** What such a certificate is made of. */
export function syntheticIssue(given: Synthetic): IssueInputs {
  const { catalogue, id, devices = 1, claim = null, share = 1, version = 2, replan = (plan) => plan } = given
  const card = shownBy(given.shownBy ?? catalogue, id, share)
  const { memoryBytes } = card.model
  const facts = { class: 'gpu' as const, backEnd: 'cuda', name: 'card', memoryBytes, freeBytes: memoryBytes - 2 ** 29 }
  const inventory: Inventory = claimed({
    program: 'test',
    devices: Array.from({ length: devices }, () => ({ ...facts, precisions: card.precisions, details: {} })),
    host: {},
  })
  const { openings, partSeconds, sustainedSeconds } = PRESETS.mainnet
  const asked = { preset: PRESETS.mainnet, memory: true, bind: true, openings, partSeconds, sustainedSeconds }
  const size = (precision: Precision) => Math.max(8192, requiredClass(card.model, precision, catalogue.rules) ?? 0)
  const inputs = { ...asked, devices: inventory.devices, precisions: card.precisions }
  const timings = new Map([
    ...card.precisions.map(
      (name) => [`rounds ${name}`, both(roundSeconds(size(name), name, card.rate(name)))] as const,
    ),
    ['bind int8', both(roundSeconds(size('int8'), 'int8', card.rate('int8')) / 8)] as const,
    ['pass byte', both(2 / card.bandwidth)] as const,
  ])
  const plan = replan(planRun({ ...inputs, maxSize: 32768, roundTripSeconds: 0 }, size, timings))
  const challenge: Challenge = {
    version,
    runId: new Uint8Array(16).fill(1),
    validatorKey: VALIDATOR.publicKey,
    proverKey: PROVER.publicKey,
    deviceCount: devices,
    parts: plan.map((part, p) => ({ ...part, nonceHash: nonceHash(nonceOf(p)) })),
  }
  const run: Run = { challenge, parts: challenge.parts.map((part, p) => evidenceOf(challenge, part, p, card)) }
  const deviceClasses = inventory.devices.map(() => 'gpu' as const)
  const offered = inventory.devices.map(({ precisions }) => precisions)
  const judged = { run, preset: PRESETS.mainnet, deviceClasses, offered }
  // As validators judged it that read the memories of several devices each on its own.
  const asBefore = devices > 1 && plan.some(({ kind }) => kind === 'memory') ? 465 : given.asBefore
  const rules = { claim, roundTripUs: 100, rejected: null, rules: version, asBefore }
  const queries = challenge.parts.map((_, p) => partQuery(run, p))
  return {
    program: 'test',
    issuedMs: given.issuedMs ?? Date.UTC(2026, 0, 1),
    seconds: 3600,
    preset: 'mainnet',
    run,
    readySignature: PROVER.sign(readyMessage(challenge)),
    resultSignature: PROVER.sign(resultMessage(challenge, queries)),
    inventory,
    claim,
    telemetry: [],
    faults: [],
    judgement: judgeRun({ ...judged, catalogue, ...rules }),
    catalogue,
    roundTripUs: 100,
  }
}

const both = (seconds: number) => ({ fastest: seconds, slowest: seconds })
const nonceOf = (p: number) => new Uint8Array(32).fill(p)
const depthOf = (precision: Precision) => (precision === 'fp32' ? 8192 : 32768)
const roundSeconds = (m: number, precision: Precision, rate: number) => (2 * m * m * depthOf(precision)) / rate

function secondsOf(
  challenge: Challenge,
  part: Part,
  p: number,
  device: number,
  card: ReturnType<typeof shownBy>,
): number {
  if (part.kind === 'rounds' || part.kind === 'bind')
    return (part.rounds * 2 * part.m * part.n * part.k) / (card.rate(part.precision) * (part.kind === 'bind' ? 0.5 : 1))
  const bytes = fillBytes(challenge.parts[kindOf(part).fill(challenge.parts, p)!]!, device)
  return (part.rounds * 2 * bytes) / card.bandwidth
}

function evidenceOf(challenge: Challenge, part: Part, p: number, card: ReturnType<typeof shownBy>): PartEvidence {
  const isMemory = kindOf(part).phases.length > 1
  const zSentUs = isMemory ? 1_000_000 : null
  const devices = devicesOf(part).map((device) => {
    const kept = part.kept[device]!
    const seconds = secondsOf(challenge, part, p, device, card)
    const arrivalsUs = Array.from({ length: rootCount(part, device) }, (_, i) =>
      i < kept ? 1000 + i : (zSentUs ?? 0) + Math.round((1e6 * seconds * (i - kept + 1)) / part.rounds),
    )
    return { device, roots: arrivalsUs.map(() => new Uint8Array(32)), arrivalsUs, openings: new Uint8Array(0) }
  })
  return { s: new Uint8Array(32), z: isMemory ? new Uint8Array(32) : null, zSentUs, nonce: nonceOf(p), devices }
}

// biome-ignore lint/suspicious/noExplicitAny: what is changed here is wrong on purpose
type Json = any

/** Reads a certificate, changes its statement and signs it again, as a validator that lies would. */
export function resigned(
  text: string,
  change: (predicate: Json, statement: Json) => void,
  ...signers: Signer[]
): string {
  const statement = JSON.parse(new TextDecoder().decode(fromBase64(JSON.parse(text).payload)!))
  change(statement.predicate, statement)
  return sealEnvelope(
    new TextEncoder().encode(JSON.stringify(statement)),
    ...(signers.length > 0 ? signers : [VALIDATOR]),
  )
}

/** As version 1 would have written it. */
export const asVersion1 = (text: string): string =>
  resigned(text, (predicate, statement) => {
    for (const name of ['startedAt', 'notAfter', 'catalogue', 'roundTripUs']) delete predicate[name]
    const inventory = predicate.claims.inventory
    const older = inventory.devices.map(({ class: _, backEnd, ...facts }: Record<string, unknown>) => ({
      kind: backEnd,
      ...facts,
    }))
    Object.assign(inventory, { devices: older })
    Object.assign(statement, { predicateType: 'urn:touchstone:proof-of-gpu:1' })
  })

/** The summary that follows from a certificate. */
export const summaryOf = (text: string, signer = VALIDATOR, score?: number): string =>
  issueSummary(readCertificate(text, () => true) as ReadCertificate, text, signer, score)!
