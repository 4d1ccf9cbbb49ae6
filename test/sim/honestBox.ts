import { askOf } from '../../src/apps/validator/askOf.ts'
import { type Asking, BoxRun, type RunState } from '../../src/apps/validator/boxRun.ts'
import type { Conducted } from '../../src/apps/validator/exchange.ts'
import type { Greeting, Line } from '../../src/apps/validator/greetProver.ts'
import { judgeRun } from '../../src/core/certificate/judgeRun.ts'
import { verdictOf } from '../../src/core/certificate/verdict.ts'
import type { Catalogue, GpuModel } from '../../src/core/identify/catalogue.ts'
import { prepareModel } from '../../src/core/identify/prepareModel.ts'
import { PRECISION_NAMES, type Precision } from '../../src/core/params/precision.ts'
import { PRESETS } from '../../src/core/params/presets.ts'
import type { Challenge } from '../../src/core/proof/challenge.ts'
import { devicesOf, fillBytes } from '../../src/core/proof/part.ts'
import { kindOf, type Part, type PlannedPart } from '../../src/core/proof/partKinds.ts'
import type { RejectReason } from '../../src/core/proof/reasons.ts'
import { type PartEvidence, verifyRoots } from '../../src/core/proof/verifyPart.ts'

/** An honest box of idle cards as the catalogue expects them, and the line to it. */
export interface HonestBox {
  readonly model: GpuModel
  readonly cards: number
  /** Cards of other models beside them. */
  readonly others?: readonly GpuModel[]
  /** Their own name where left out. */
  readonly claim?: string | null
  readonly roundTripSeconds: number
  /** Bytes a second between two cards; null where they cannot read one another. */
  readonly link?: number | null
  /** Of what the catalogue expects. */
  readonly speed?: number
  /** Seconds by which a root is held up on its way. */
  readonly heldUp?: (at: Asking['at'], part: PlannedPart, root: number) => number
}

/** Beside the product of each round: entries, leaves and a launch. */
const OVERHEAD_SECONDS = 3e-4
const hash = new Uint8Array(32)

const modelsOf = ({ model, cards, others = [] }: HonestBox): GpuModel[] => [
  ...Array.from({ length: cards }, () => model),
  ...others,
]

/** The card as its owner has it: what it computes and reads in a second. */
function cardOf(box: HonestBox, device: number, { rules }: Catalogue) {
  const model = modelsOf(box)[device]!
  const { speed = 1 } = box
  const { own, ways, bandwidth } = prepareModel(model, rules)
  const rate = (name: Precision) => speed * (own.has(name) ? ways[name][0]! : ways.fp32[0]!).expected.centre
  return {
    offered: PRECISION_NAMES.filter((name) => own.has(name) || name === 'int8'),
    rate,
    bandwidth: bandwidth!.centre,
  }
}

/** When the roots of a part come, by arithmetic; they are not computed. */
function evidenceOf(box: HonestBox, parts: readonly Part[], p: number, at: Asking['at'], catalogue: Catalogue) {
  const part = parts[p]!
  const cards = modelsOf(box).map((_, device) => cardOf(box, device, catalogue))
  const operations = 2 * part.m * part.n * part.k
  const passSeconds = Math.max(
    ...devicesOf(part).map((device) => (2 * fillBytes(part, device)) / cards[device]!.bandwidth),
  )
  const rootSeconds = (device: number): number => {
    const { rate, bandwidth } = cards[device]!
    if (part.kind === 'bind') return operations / (0.45 * rate('int8'))
    if (part.kind === 'link') return fillBytes(parts[kindOf(part).fill(parts, p)!]!, device) / (box.link ?? bandwidth)
    return operations / rate(part.precision)
  }
  const isFill = kindOf(part).phases.length > 1
  const series = (count: number, seconds: number, fromUs: number, first: number): number[] => {
    let lastUs = fromUs
    return Array.from({ length: count }, (_, i) => {
      const late = box.heldUp?.(at, part, first + i) ?? 0
      const dueUs = fromUs + 1e6 * (box.roundTripSeconds + (seconds + OVERHEAD_SECONDS) * (i + 1) + late)
      lastUs = Math.max(lastUs, Math.round(dueUs))
      return lastUs
    })
  }
  const begun = devicesOf(part).map((device) => ({
    device,
    arrivalsUs: series(isFill ? part.kept[device]! : part.rounds, rootSeconds(device), 0, 0),
  }))
  const zSentUs = isFill ? Math.max(...begun.map(({ arrivalsUs }) => arrivalsUs.at(-1)!)) + 50 : null
  const devices = begun.map(({ device, arrivalsUs }) => {
    const passes = zSentUs === null ? [] : series(part.rounds, passSeconds, zSentUs, arrivalsUs.length)
    const all = [...arrivalsUs, ...passes]
    return { device, arrivalsUs: all, roots: all.map(() => hash), openings: new Uint8Array() }
  })
  return { s: hash, z: isFill ? hash : null, zSentUs, nonce: hash, devices } satisfies PartEvidence
}

function inventoryOf(box: HonestBox, catalogue: Catalogue) {
  const { link = null } = box
  const devices = modelsOf(box).map((model, device) => {
    const memoryBytes = model.reported?.bytes ?? Math.floor(0.9915 * model.memoryBytes)
    return {
      class: 'gpu' as const,
      backEnd: 'cuda',
      name: model.name,
      memoryBytes,
      freeBytes: memoryBytes - Math.floor(Math.min(550e6, 0.03 * model.memoryBytes)),
      precisions: cardOf(box, device, catalogue).offered,
      details: link === null ? { peers: false } : {},
    }
  })
  return { program: 'touchstone prover', host: {}, devices }
}

/** The verdict of `verify --claim` on the box: the real plan, calibrations, judgement and claim, over such times. */
export async function verdictOn(box: HonestBox, catalogue: Catalogue) {
  const { model, roundTripSeconds } = box
  const cards = modelsOf(box).length
  const { claim = `${cards}x ${model.id}` } = box
  const options = askOf({ preset: PRESETS.mainnet, ...(claim === null ? {} : { claim }) }, 'touchstone test')
  const line = { signal: new AbortController().signal } as Line
  const run = new BoxRun({ options, line, verify: async () => null, onStep: () => {} })
  const inventory = inventoryOf(box, catalogue)
  const greeting = { proverKey: hash, inventory, roundTripSeconds } as unknown as Greeting
  let isAgain = false
  let state: RunState = run.plan(greeting)
  while (state.at !== 'over') {
    if (state.at === 'plan') throw new Error('an honest box loses no device')
    const { at, plan } = state
    isAgain ||= at === 'again'
    const names = { version: 2 as const, runId: new Uint8Array(16), validatorKey: hash, proverKey: hash }
    const challenge: Challenge = {
      ...names,
      deviceCount: cards,
      parts: plan.map((part) => ({ ...part, nonceHash: hash })),
    }
    const parts: PartEvidence[] = []
    let rejected: RejectReason | null = null
    for (let p = 0; p < plan.length && !rejected; p++) {
      parts.push(evidenceOf(box, challenge.parts, p, at, catalogue))
      rejected = verifyRoots({ challenge, parts }, p)
    }
    const conducted = { challenge, parts, rejected, gaveUp: null } as Partial<Conducted> as Conducted
    state = await run.after(state, conducted)
  }
  const { done } = state
  const deviceClasses = inventory.devices.map((device) => device.class)
  const offered = inventory.devices.map(({ precisions }) => precisions)
  const told = { claim, catalogue, roundTripUs: Math.round(1e6 * roundTripSeconds) }
  const judgement = judgeRun({
    run: done,
    preset: PRESETS.mainnet,
    deviceClasses,
    offered,
    rejected: done.rejected,
    ...told,
  })
  return { verdict: verdictOf(judgement), why: judgement.reason ?? judgement.claim?.reasons, isAgain, judgement }
}
