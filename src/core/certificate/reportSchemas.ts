import * as z from 'zod'
import type { DeepReadonly } from '../bytes/decodeJson.ts'
import { count, fact, hex, instant, plain } from '../bytes/fields.ts'
import { reasonSchema } from '../proof/reasons.ts'
import { presetName } from './fields.ts'
import { judgementSchema, judgementVersion1, type StatedJudgement } from './judgementSchema.ts'
import { summarySchema } from './summary.ts'
import { REPORT_FORMAT, VERDICTS } from './verdict.ts'

const answer = { format: z.literal(REPORT_FORMAT), verdict: z.enum(VERDICTS) }
const told = { meaning: z.string(), nextStep: z.string() }
const problem = z.object({
  code: z.string(),
  ...told,
  where: z.string().exactOptional(),
  got: fact.exactOptional(),
  expected: fact.exactOptional(),
  reason: reasonSchema.exactOptional(),
})
const doubts = z.array(z.object({ code: z.string(), where: z.string().exactOptional(), ...told }))
const tier = z.enum(['A', 'B', 'C'])

const ofCheck = { ...answer, valid: z.boolean(), openings: count, openingsChecked: count, newlineAdded: z.boolean() }
const ofHeld = { ...ofCheck, established: z.boolean(), doubts }
const ofSigned = {
  ...ofHeld,
  problem: problem.exactOptional(),
  issuedAt: z.string(),
  startedAt: instant.nullable(),
  notAfter: instant,
  ageSeconds: z.int(),
  prover: hex(32),
  signers: z.array(hex(32)),
  signersCounted: z.array(hex(32)).meta({
    description:
      'a key for each of the signers that count: trusted by the reader, in good standing, and not the successor of another',
  }),
  successorOf: z.record(hex(32), hex(32)).exactOptional().meta({
    description: 'of each signer that counts as a successor, the trusted key it took over from; the command prints it',
  }),
}

const askedDevices = z
  .string()
  .nullable()
  .meta({ description: 'which devices the signer asked the box for; null where for all it has' })

/** What a check found: the result of the library, and what `touchstone check --json` prints with the name of the file. */
export const checkReportSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('refused'), ...ofCheck, problem }),
  z.object({
    kind: z.literal('certificate'),
    ...ofSigned,
    version: z.literal([1, 2]),
    tier: tier.nullable(),
    runId: hex(16),
    signer: hex(32),
    preset: presetName,
    address: z.string().nullable().meta({ description: 'where the signer says that it found the box; a claim' }),
    askedDevices,
    catalogues: z.object({ signer: hex(32), reader: hex(32) }),
    identityRecomputed: z.boolean(),
    models: z.array(plain.nullable()),
    judgement: z.union([judgementSchema, judgementVersion1]),
    readerJudgement: judgementSchema.nullable().meta({ description: 'null of a run that is rejected' }),
  }),
  z.object({ kind: z.literal('summary'), ...ofSigned, summary: summarySchema }),
  z.object({
    kind: z.literal('receipt'),
    ...ofSigned,
    work: z.object({
      id: hex(32),
      kind: z.string(),
      drawnBy: z.enum(['device', 'listener']),
      transitions: count,
      segments: count,
      drawnSegments: count,
      patches: count,
      replayed: count,
      operations: z.number(),
      liveShare: z.number().meta({ description: 'of what was recomputed, the share that nobody could skip' }),
      credited: z.number().meta({ description: 'operations that count as work' }),
      proven: z
        .object({
          products: z.enum(['shared', 'all']).meta({ description: 'those that are sums over sequences, or all' }),
          transitions: z.array(count),
          proofBytes: count,
          log2Error: z.number().meta({ description: 'log2 of the chance that a wrong product passes, for one try' }),
        })
        .nullable()
        .meta({ description: 'transitions that were proven by sumcheck besides; null: none' }),
    }),
    resultTied: z
      .boolean()
      .meta({ description: 'a file of the result was compared, and is what the receipt commits to' }),
    inputsTied: z.boolean().meta({ description: 'what the work was made of was compared, and is what was handed in' }),
    clock: z.object({ precision: z.string(), perSecond: z.number(), provenPerSecond: z.number() }).nullable().meta({
      description: 'credited operations a second, and what the certificate of the box proves; where one was named',
    }),
    asked: z
      .record(z.string(), z.unknown())
      .exactOptional()
      .meta({ description: 'the parameters of the work, in the words of its orderer; the command prints them' }),
    device: z.string().meta({ description: 'what the device says of itself; a claim' }),
    guarantees: z.array(z.string()),
  }),
  z.object({
    kind: z.literal('product'),
    ...ofSigned,
    product: z
      .object({ rows: count, columns: count, k: count })
      .meta({ description: 'C is rows x columns, A rows x k' }),
    work: z.object({
      id: hex(32),
      kind: z.string(),
      method: z.literal('sumcheck'),
      operations: z.number(),
      liveShare: z.number().meta({ description: 'the share of the result that no row of zeros makes' }),
      credited: z.number().meta({ description: 'operations that count as work' }),
      proofBytes: count,
      log2Error: z.number().meta({ description: 'log2 of the chance that a wrong result passes, for one try' }),
    }),
    codes: z.array(hex(32)).nullable().meta({ description: 'the codes of A and B; null: both were at hand' }),
    device: z.string().meta({ description: 'what the device says of itself; a claim' }),
  }),
  z.object({
    kind: z.literal('answer'),
    ...ofSigned,
    model: hex(32).meta({ description: 'what the commitments to the weights are called' }),
    classes: count,
    inputs: count,
    proofBytes: count,
  }),
  z.object({
    kind: z.literal('attestation'),
    ...ofHeld,
    tier,
    devices: z.array(
      z.object({
        arch: z.string(),
        model: z.string(),
        pdi: z.string(),
        driver: z.string().nullable(),
        vbios: z.string().nullable(),
      }),
    ),
    cpu: z.object({ kind: z.string(), measurement: z.string() }).nullable(),
  }),
])

type Parsed = DeepReadonly<z.infer<typeof checkReportSchema>>
type OfCertificate = Extract<Parsed, { kind: 'certificate' }>

/** What a check found, as plain values. */
export type CheckReport =
  | Exclude<Parsed, { kind: 'certificate' }>
  | (Omit<OfCertificate, 'judgement' | 'readerJudgement'> & {
      readonly judgement: StatedJudgement
      readonly readerJudgement: StatedJudgement | null
    })

/** What `touchstone verify --json` prints. */
export const verifyReportSchema = z.object({
  ...answer,
  kind: z.literal('run'),
  address: z.string(),
  askedDevices,
  preset: presetName,
  runId: hex(16),
  proverKey: hex(32),
  startedAt: instant,
  seconds: z.number().min(0),
  roundTripSeconds: z.number().min(0),
  models: z.array(plain.nullable()),
  judgement: judgementSchema,
  faults: z.array(z.object({ code: z.string(), text: z.string() })),
  cutShort: z.object({ seconds: z.number(), leastSeconds: z.number() }).nullable().meta({
    description: 'a part that was over in less than half of the time that was asked for',
  }),
  certificate: z.string().meta({ description: 'the file that was written' }),
})

/** What any command prints with --json where it has no answer. */
export const errorReportSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    blame: z.enum(['user', 'prover', 'validator', 'network']),
    retry: z.boolean(),
    nextStep: z.string(),
  }),
})
