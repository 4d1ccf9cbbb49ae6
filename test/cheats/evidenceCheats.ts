import { fromBase64, toBase64 } from '../../src/core/bytes/base64.ts'
import { sealEnvelope } from '../../src/core/certificate/envelope.ts'
import { type Judgement, judgeRun } from '../../src/core/certificate/judgeRun.ts'
import type { Statement } from '../../src/core/certificate/statement.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import { copyBandwidth, expectedRate } from '../../src/core/identify/expected.ts'
import { requiredClass } from '../../src/core/identify/undersizedParts.ts'
import { PRECISION_NAMES, type Precision } from '../../src/core/params/precision.ts'
import { PRESETS, type Preset } from '../../src/core/params/presets.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { modelOf } from '../sim/shippedCatalogue.ts'
import { honestProgram } from '../support/inProcessBox.ts'
import { openReferenceDevice } from '../support/openReferenceDevice.ts'
import { problemOf } from '../support/problemOf.ts'
import { type SyntheticCard, type SyntheticRun, syntheticRun } from '../support/syntheticRun.ts'
import { testSigner } from '../support/testSigner.ts'
import { VALIDATOR, verifyInProcess } from '../support/verifyInProcess.ts'
import type { EvidenceCheat } from './cheat.ts'

/** A model's own expected values, times `share`. */
export function cardLike(catalogue: Catalogue, id: string, share = 1): SyntheticCard {
  const model = modelOf(catalogue, id)
  const rates = Object.fromEntries(
    PRECISION_NAMES.flatMap((precision) => {
      const expected = expectedRate(model, precision, catalogue.rules)
      return expected ? [[precision, share * expected.centre]] : []
    }),
  )
  return { rates, heldBytes: 0.94 * share * model.memoryBytes, bandwidth: copyBandwidth(model, catalogue.rules)! }
}

/** In the order of the H200's precisions; an RTX 3060 has no fp8. */
const mixedBox = (catalogue: Catalogue): SyntheticCard[] => {
  const [fast, slow] = [cardLike(catalogue, 'h200-sxm'), cardLike(catalogue, 'rtx-3060-12gb')]
  const both = Object.entries(fast.rates).filter(([precision]) => precision in slow.rates)
  return [{ ...fast, rates: Object.fromEntries(both) }, slow]
}

/** The class each precision of a model must run. */
export const classesOf = (catalogue: Catalogue, id: string) => (precision: Precision) =>
  requiredClass(modelOf(catalogue, id), precision, catalogue.rules) ?? 8192

export const judgeSynthetic = (
  catalogue: Catalogue,
  given: SyntheticRun,
  { claim = null, preset = PRESETS.mainnet }: { readonly claim?: string | null; readonly preset?: Preset } = {},
): Judgement =>
  judgeRun({
    run: syntheticRun(given),
    preset,
    deviceClasses: given.cards.map(() => 'gpu' as const),
    offered: given.cards.map(({ rates }) => Object.keys(rates) as Precision[]),
    catalogue,
    claim,
    roundTripUs: 0,
    rejected: null,
  })

const codeOf = ({ reason }: Judgement): string => reason?.code ?? 'ACCEPTED'

const memoryOf = ({ devices }: Judgement): string => devices.map(({ memory }) => memory?.status ?? 'none').join(' and ')

const claimOf = ({ claim }: Judgement): string =>
  [claim?.verdict, ...(claim?.reasons ?? []).map((reason) => (typeof reason === 'string' ? reason : reason.code))].join(
    ' ',
  )

/** A card as it is, with a bind part; sold under another name. */
function soldAs(catalogue: Catalogue, id: string, claim: string, change: (card: SyntheticCard) => SyntheticCard) {
  const like = cardLike(catalogue, id)
  const card = change({ ...like, bindRate: 0.5 * (like.rates.int8 ?? 2e13) })
  return judgeSynthetic(catalogue, { cards: [card], size: classesOf(catalogue, id) }, { claim })
}

interface TwoCards extends Required<Pick<SyntheticRun, 'memoryKind'>> {
  readonly as: string
  /** What they hold and how fast they read it, by what such cards do. */
  readonly share: number
}

/** Two cards as sold, held against the memory of the one card that it may have been. */
function posedAsTwo(catalogue: Catalogue, truth: string, { as, memoryKind, share }: TwoCards): string {
  const like = cardLike(catalogue, as)
  const memory = { heldBytes: share * like.heldBytes!, bandwidth: share * like.bandwidth! }
  const card = { ...like, ...memory, bindRate: 0.5 * like.rates.int8! }
  const given = { cards: [card, card], size: classesOf(catalogue, as), memoryKind }
  const judged = judgeSynthetic(catalogue, given, { claim: `2x ${modelOf(catalogue, as).name}` })
  const floors = judged.devices.reduce((sum, { memory }) => sum + memory!.floorBytes!, 0)
  const isWithin = floors <= modelOf(catalogue, truth).memoryBytes
  return `${claimOf(judged)}, ${memoryOf(judged)}, floors ${isWithin ? 'within' : 'above'} the card`
}

const countOf = ({ count }: Judgement): string => (count.established ? 'count established' : 'count claimed')

let genuine: Promise<string> | null = null

/** One honest run of two devices, made once. */
export function genuineCertificate(kit: Pick<Parameters<EvidenceCheat['outcome']>[0], 'engine' | 'catalogue'>) {
  const program = honestProgram({ devices: [1, 2].map(() => openReferenceDevice({ engine: kit.engine })) })
  genuine ??= verifyInProcess({ ...kit, program, options: { memory: true } }).then(({ certificate }) => certificate)
  return genuine
}

/** Reads, changes and signs a genuine certificate again, as a validator that lies would. */
async function forge(
  kit: { readonly engine: TileEngine; readonly catalogue: Catalogue },
  change: (statement: Mutable<Statement>) => void,
  signer = VALIDATOR,
): Promise<string> {
  const payload = fromBase64(JSON.parse(await genuineCertificate(kit)).payload)!
  const statement = JSON.parse(new TextDecoder().decode(payload)) as Mutable<Statement>
  change(statement)
  const problem = await problemOf(sealEnvelope(new TextEncoder().encode(JSON.stringify(statement)), signer), kit)
  return problem ? (problem.reason?.code ?? problem.code) : 'VALID'
}

type Mutable<T> = T extends string | number | boolean | null ? T : { -readonly [K in keyof T]: Mutable<T[K]> }

function flipBase64(text: string, at: number): string {
  const bytes = fromBase64(text)!
  bytes[at] = bytes[at]! ^ 1
  return toBase64(bytes)
}

const forged = (
  attack: number,
  name: string,
  expected: string,
  change: (statement: Mutable<Statement>) => void,
): EvidenceCheat => ({
  attack,
  name,
  how: 'in a certificate signed again by its validator',
  expected,
  outcome: (kit) => forge(kit, change),
})

/** Lies told with evidence: to the judge, and to whoever reads a certificate. */
export const EVIDENCE_CHEATS: readonly EvidenceCheat[] = [
  {
    attack: 27,
    name: 'a sandbagged calibration',
    how: "an H200's rates, shown in the smallest size class",
    expected: 'UNDERSIZED_RUN',
    outcome: async ({ catalogue }) =>
      codeOf(judgeSynthetic(catalogue, { cards: [cardLike(catalogue, 'h200-sxm')], size: () => 1024 })),
  },
  {
    attack: 27,
    name: 'no sandbagging, for comparison',
    how: 'the same rates in the class of the card',
    expected: 'ACCEPTED',
    outcome: async ({ catalogue }) =>
      codeOf(
        judgeSynthetic(catalogue, { cards: [cardLike(catalogue, 'h200-sxm')], size: classesOf(catalogue, 'h200-sxm') }),
      ),
  },
  {
    attack: 27,
    name: 'an honest mixed box, for comparison',
    how: 'an H200 beside an RTX 3060: one size serves both, and it is the class of the smaller card',
    expected: 'ACCEPTED',
    outcome: async ({ catalogue }) =>
      codeOf(judgeSynthetic(catalogue, { cards: mixedBox(catalogue), size: classesOf(catalogue, 'rtx-3060-12gb') })),
  },
  {
    attack: 27,
    name: 'a sandbagged calibration in a mixed box',
    how: 'an H200 beside an RTX 3060, both in the smallest size class',
    expected: 'UNDERSIZED_RUN',
    outcome: async ({ catalogue }) =>
      codeOf(judgeSynthetic(catalogue, { cards: mixedBox(catalogue), size: () => 1024 })),
  },
  {
    attack: 13,
    name: 'memory behind a host link',
    how: "an H200's rates, its fill read at 64 GB/s",
    expected: 'held',
    outcome: async ({ catalogue }) =>
      memoryOf(
        judgeSynthetic(catalogue, {
          cards: [{ ...cardLike(catalogue, 'h200-sxm'), bandwidth: 64e9 }],
          size: classesOf(catalogue, 'h200-sxm'),
        }),
      ),
  },
  {
    attack: 39,
    name: 'a fifth of the fill elsewhere',
    how: 'read at 80 % of the copy bandwidth',
    expected: 'held',
    outcome: async ({ catalogue }) => {
      const card = cardLike(catalogue, 'h200-sxm')
      return memoryOf(
        judgeSynthetic(catalogue, {
          cards: [{ ...card, bandwidth: 0.8 * card.bandwidth! }],
          size: classesOf(catalogue, 'h200-sxm'),
        }),
      )
    },
  },
  {
    attack: 35,
    name: 'one large card as two small ones',
    how: 'two devices with 45 % of a B200 each',
    expected: 'count claimed',
    outcome: async ({ catalogue }) =>
      countOf(
        judgeSynthetic(catalogue, {
          cards: [0, 1].map(() => cardLike(catalogue, 'b200', 0.45)),
          size: () => 8192,
        }),
      ),
  },
  {
    attack: 35,
    name: 'two of the largest cards, for comparison',
    how: 'no card of the catalogue covers two of them',
    expected: 'count established',
    outcome: async ({ catalogue }) =>
      countOf(
        judgeSynthetic(catalogue, {
          cards: [0, 1].map(() => cardLike(catalogue, 'b300')),
          size: classesOf(catalogue, 'b300'),
        }),
      ),
  },
  {
    attack: 36,
    name: 'memory device by device',
    how: 'two memory parts of one device each, with the memory of one card',
    expected: 'none and none',
    outcome: async ({ catalogue }) =>
      memoryOf(
        judgeSynthetic(catalogue, {
          cards: [0, 1].map(() => cardLike(catalogue, 'h200-sxm')),
          size: classesOf(catalogue, 'h200-sxm'),
          memoryMasks: [1, 2],
        }),
      ),
  },
  {
    attack: 36,
    name: 'one memory of two in the window',
    how: 'the fill of the second device is read at the speed of a link',
    expected: 'held and held',
    outcome: async ({ catalogue }) => {
      const card = cardLike(catalogue, 'h200-sxm')
      return memoryOf(
        judgeSynthetic(catalogue, {
          cards: [card, { ...card, bandwidth: 64e9 }],
          size: classesOf(catalogue, 'h200-sxm'),
        }),
      )
    },
  },
  {
    attack: 67,
    name: 'an H20 that offers no precision, as an H100',
    how: 'only memory and bind are asked; its memory is as fast',
    expected: 'unproven NOT_SHOWN NOT_SHOWN NOT_SHOWN NOT_SHOWN NOT_SHOWN',
    outcome: async ({ catalogue }) =>
      claimOf(
        soldAs(catalogue, 'h20', 'H100 SXM', (card) => ({
          ...card,
          rates: {},
          heldBytes: 0.94 * modelOf(catalogue, 'h100-sxm').memoryBytes,
          bandwidth: copyBandwidth(modelOf(catalogue, 'h100-sxm'), catalogue.rules)!,
        })),
      ),
  },
  {
    attack: 67,
    name: 'a card that shows all of itself, for comparison',
    how: 'an H100 as an H100',
    expected: 'matches FITS_CLAIM',
    outcome: async ({ catalogue }) => claimOf(soldAs(catalogue, 'h100-sxm', 'H100 SXM', (card) => card)),
  },
  {
    attack: 68,
    name: 'a claim in a run of fewer openings',
    how: 'an H100 as an H100, under the preset custom',
    expected: 'unproven INSECURE_PRESET',
    outcome: async ({ catalogue }) => {
      const given = { cards: [cardLike(catalogue, 'h100-sxm')], size: classesOf(catalogue, 'h100-sxm') }
      return claimOf(judgeSynthetic(catalogue, given, { claim: 'H100 SXM', preset: PRESETS.custom }))
    },
  },
  {
    attack: 69,
    name: 'a GH200 of 96 GB as an H200',
    how: 'keeps 30 GB of its fill in its host, behind C2C',
    expected: 'unproven MEMORY_MAY_BE_LENT, floor within the card',
    outcome: async ({ catalogue }) => {
      const [own, posed] = [modelOf(catalogue, 'gh200-96gb'), modelOf(catalogue, 'h200-sxm')]
      const judged = soldAs(catalogue, 'h200-sxm', 'H200', (card) => ({
        ...card,
        heldBytes: 0.88 * posed.memoryBytes,
        bandwidth: 4.2e12,
      }))
      const floor = judged.devices[0]!.memory!.floorBytes!
      return `${claimOf(judged)}, floor ${floor <= own.memoryBytes ? 'within' : 'above'} the card`
    },
  },
  {
    attack: 465,
    name: 'two A100 of 80 GB whose memories were read each on its own',
    how: 'an H100 NVL has room for one of them, and brings the other up from its host once',
    expected: 'unproven MEMORY_IN_TURNS MEMORY_IN_TURNS, held and held, floors within the card',
    outcome: async ({ catalogue }) =>
      posedAsTwo(catalogue, 'h100-nvl', { as: 'a100-sxm4-80gb', memoryKind: 'memory', share: 1 }),
  },
  {
    attack: 465,
    name: 'two RTX 4080 whose memories were read together, slowly',
    how: 'an RTX 4090 brings up what it lacks in every pass',
    expected: 'unproven MEMORY_MAY_BE_LENT MEMORY_MAY_BE_LENT, proven and proven, floors within the card',
    outcome: async ({ catalogue }) =>
      posedAsTwo(catalogue, 'rtx-4090', { as: 'rtx-4080', memoryKind: 'memories', share: 0.92 }),
  },
  {
    attack: 465,
    name: 'two A100 of 80 GB, for comparison',
    how: 'read together at their own speed',
    expected: 'matches FITS_CLAIM FITS_CLAIM, proven and proven, floors within the card',
    outcome: async ({ catalogue }) =>
      posedAsTwo(catalogue, 'h100-nvl', { as: 'a100-sxm4-80gb', memoryKind: 'memories', share: 1 }),
  },
  {
    attack: 70,
    name: 'an RTX 5070 Ti as an RTX 5080',
    how: 'the claimed card fits as well, but is less likely',
    expected: 'unproven NOT_SHOWN NOT_SHOWN NOT_SHOWN NOT_SHOWN NOT_SHOWN LIKELIER_CARD',
    outcome: async ({ catalogue }) => claimOf(soldAs(catalogue, 'rtx-5070-ti', 'RTX 5080', (card) => card)),
  },
  forged(1, 'a device left out', 'MISSING_ROOT', ({ predicate }) => {
    predicate.parts[0]!.devices.pop()
  }),
  forged(1, 'a root left out', 'MISSING_ROOT', ({ predicate }) => {
    const [device] = predicate.parts[0]!.devices
    device!.roots = toBase64(fromBase64(device!.roots)!.subarray(32))
    device!.arrivalsUs.shift()
  }),
  forged(10, 'a root changed', 'BAD_RESULT_SIGNATURE', ({ predicate }) => {
    const [device] = predicate.parts[0]!.devices
    device!.roots = flipBase64(device!.roots, 40)
  }),
  forged(10, 'an opening changed', 'OPENING_DOES_NOT_REACH_ROOT', ({ predicate }) => {
    const [device] = predicate.parts[0]!.devices
    device!.openings = flipBase64(device!.openings, 0)
  }),
  forged(10, 'the openings of two devices swapped', 'OPENING_DOES_NOT_REACH_ROOT', ({ predicate }) => {
    const [first, second] = predicate.parts[0]!.devices
    ;[first!.openings, second!.openings] = [second!.openings, first!.openings]
  }),
  forged(5, 'figures faster than the times', 'WRONG_FIGURES', ({ predicate }) => {
    predicate.figures[0]!.perSecond *= 2
  }),
  forged(5, 'a judgement that does not follow', 'WRONG_JUDGEMENT', ({ predicate }) => {
    ;(predicate.judgement.devices[0] as unknown as { rates: { int8: number } }).rates.int8 *= 2
  }),
  forged(2, 'a tiny run called mainnet', 'WRONG_PRESET', ({ predicate }) => {
    predicate.preset = 'mainnet'
  }),
  forged(34, 'an accepted run without its result', 'BAD_RESULT_SIGNATURE', ({ predicate }) => {
    predicate.result = null
  }),
  forged(34, 'an accepted run without its last part', 'MISSING_PARTS', ({ predicate }) => {
    predicate.parts.pop()
  }),
  forged(38, 'a fill root dated after Z_0', 'LATE_ROOT', ({ predicate }) => {
    predicate.parts[1]!.zSentUs = 1
  }),
  forged(11, 'a nonce of its own choosing', 'WRONG_NONCE', ({ predicate }) => {
    predicate.parts[0]!.nonce = '00'.repeat(32)
  }),
  forged(46, 'a reason nobody knows', 'MALFORMED', ({ predicate }) => {
    Object.assign(predicate.judgement, { outcome: 'rejected', reason: { code: 'CONSTRUCTOR' } })
  }),
  forged(46, 'terminal escapes in a reason', 'MALFORMED', ({ predicate }) => {
    Object.assign(predicate.judgement, { outcome: 'rejected', reason: { code: 'VANISHED', got: '\u001b[2J' } })
  }),
  forged(46, 'terminal escapes in an identity', 'MALFORMED', ({ predicate }) => {
    Object.assign(predicate.judgement.devices[0]!, { identity: { model: '\u001b]0;GENUINE\u0007' } })
  }),
  forged(46, 'a rejection without a reason', 'MALFORMED', ({ predicate }) => {
    Object.assign(predicate.judgement, { outcome: 'rejected' })
  }),
  {
    attack: 42,
    name: 'a run that measured nothing',
    how: 'memory parts of single devices only',
    expected: 'unknown',
    outcome: async ({ catalogue }) => {
      const { rates: _, ...card } = cardLike(catalogue, 'h200-sxm')
      const cards = [0, 1].map(() => ({ ...card, rates: {} }))
      const judged = judgeSynthetic(catalogue, { cards, size: () => 1024, memoryMasks: [1, 2] })
      return judged.devices[0]!.identity.status
    },
  },
  {
    attack: 33,
    name: "somebody else's certificate signed over",
    how: 'with a key nobody trusts',
    expected: 'UNKNOWN_SIGNER',
    outcome: (kit) => forge(kit, () => {}, testSigner(66)),
  },
]
