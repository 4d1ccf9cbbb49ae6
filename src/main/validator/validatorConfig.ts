import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { statedBox } from '../../apps/api/schemas.ts'
import { requireClaim } from '../../apps/shared/requireClaim.ts'
import { printable } from '../../core/bytes/printable.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { PRECISION_NAMES } from '../../core/params/precision.ts'
import { boxId } from '../../core/schedule/fleetRecords.ts'
import { LARGEST_COHORT } from '../../core/schedule/largestCohort.ts'
import { parseStoreAddress } from '../../drivers/store/openStore.ts'
import { fault } from '../faults.ts'
import { isNetwork } from '../parseOptions.ts'
import { readTarget } from './fleetAddress.ts'

const ascii = (most: number) =>
  z.string().regex(new RegExp(`^[\\x21-\\x7e]{1,${most}}$`), 'must be plain text without blanks')
const whole = (least: number, most: number) => z.int().min(least).max(most)

const rounds = z.strictObject({
  everyMinutes: z.number().min(0.01).max(10_080).default(72),
  everyBlocks: whole(1, 1_000_000).default(360),
  heightUrl: z.url({ protocol: /^https?$/ }).optional(),
  maxDelaySeconds: z.number().min(0).max(3600).default(1200),
  probes: z.boolean().default(true),
})

const work = z.strictObject({
  concurrency: whole(1, LARGEST_COHORT).default(256),
  cohortSize: whole(1, LARGEST_COHORT).default(256),
  threads: whole(1, 256).optional(),
  holdSeconds: z.number().min(1).max(3600).default(60),
  startLimitSeconds: z.number().min(1).max(3600).default(300),
  stallSeconds: z.number().min(1).max(3600).default(120),
  runLimitSeconds: z.number().min(1).max(7200).default(900),
  graceSeconds: z.number().min(0).max(3600).default(20),
  retryLimit: whole(0, 20).default(2),
  retrySeconds: z.number().min(0).max(86_400).default(300),
  busyLimit: whole(0, 100).default(3),
})

const api = z.strictObject({
  host: ascii(255).default('127.0.0.1'),
  port: whole(0, 65_535).default(8787),
  writers: z.array(z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits')).default([]),
  requestsPerMinute: whole(1, 1_000_000).default(600),
  ownMachine: z.boolean().default(false),
})

const factor = z.number().min(0).max(1).default(1)

/** What hardware vendors sign: by which files it is judged, and what each tier is worth. */
const attestation = z.strictObject({
  policy: z.string().optional(),
  rims: z.array(z.string()).default([]),
  ocsp: z.array(z.string()).default([]),
  crl: z.string().optional(),
  collateral: z.string().optional(),
  factors: z.strictObject({ A: factor, B: factor, C: factor }).prefault({}),
})

/** Addresses of boxes that dial in. */
export const HUB = 'lease://hub#'

const leaseHub = z
  .string()
  .regex(/^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}$/, 'must be host:port')
  .transform((text) => {
    const colon = text.lastIndexOf(':')
    return { host: text.slice(0, colon).replace(/[[\]]/g, ''), port: Number(text.slice(colon + 1)) }
  })
  .refine(({ port }) => port <= 65_535, 'must be host:port')

/** Where rounds are published. Whose machine an address leads to is the operator's choice: any is asked. */
const ledger = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('file'), folder: z.string().min(1) }),
  z.strictObject({
    kind: z.literal('chain'),
    node: z.url({ protocol: /^https?$/ }),
    chain: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits, as "touchstone chain head" shows them')
      .optional(),
  }),
  z.strictObject({
    kind: z.literal('evm'),
    urls: z
      .array(z.url({ protocol: /^https?$/ }))
      .min(1)
      .max(8),
    chainId: whole(1, Number.MAX_SAFE_INTEGER),
    contract: z
      .string()
      .regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hex digits')
      .toLowerCase(),
    key: z.string().min(1),
    passwordFile: z.string().min(1).optional(),
    maxFeeGwei: z.number().gt(0).max(1_000_000).default(100),
    final: z.union([z.literal('finalized'), whole(1, 100_000)]).default('finalized'),
  }),
])

const schema = z
  .strictObject({
    store: z
      .string()
      .refine((text) => parseStoreAddress(text, '/') !== null, 'must be embedded:FOLDER or postgres://…'),
    preset: z.enum(['tiny', 'devnet', 'mainnet']).default('mainnet'),
    // In one order, each once: a cohort goes from gate to gate in it.
    precisions: z
      .array(z.enum(PRECISION_NAMES))
      .default([...PRECISION_NAMES])
      .transform((names) => PRECISION_NAMES.filter((name) => names.includes(name))),
    memory: z.boolean().default(true),
    bind: z.boolean().default(true),
    devices: ascii(40).default('auto'),
    identity: z.string().optional(),
    boxes: z.array(statedBox.extend({ id: boxId })).default([]),
    rounds: rounds.prefault({}),
    work: work.prefault({}),
    api: api.nullable().prefault({}),
    attestation: attestation.prefault({}),
    leaseHub: leaseHub.optional(),
    /** It stands behind a proxy on this machine, which writes X-Forwarded-For itself. */
    leaseHubProxy: z.boolean().default(false),
    leaseNetworks: z.array(z.string().refine(isNetwork, 'must be a network such as 10.0.0.0/8')).default([]),
    retention: z
      .strictObject({ resultDays: z.number().min(1).default(90), certificateDays: z.number().min(0).default(7) })
      .prefault({}),
    anchor: z.strictObject({ node: z.url({ protocol: /^https?$/ }) }).optional(),
    ledger: ledger.optional(),
    backups: z.string().default('./backups'),
    log: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  })
  .refine(({ boxes }) => new Set(boxes.map(({ id }) => id)).size === boxes.length, {
    path: ['boxes'],
    message: 'two boxes have the same id',
  })
  .refine(({ work: { concurrency, cohortSize } }) => cohortSize <= concurrency, {
    path: ['work', 'cohortSize'],
    message: 'must not be above work.concurrency',
  })
  .refine(({ boxes, leaseHub }) => leaseHub !== undefined || !boxes.some(({ address }) => address.startsWith(HUB)), {
    path: ['boxes'],
    message: 'a box at lease://hub dials in: set leaseHub',
  })

export type ValidatorConfig = z.infer<typeof schema> & {
  /** Folder of the file: relative paths in it start there. */
  readonly base: string
}

const MOST_BYTES = 4 * 1024 * 1024

/**
 * Reads validator.yaml; whatever is wrong is one sentence with the field and, where it has one, the line. With a catalogue,
 * claims must name a card of it.
 */
export function readValidatorConfig(path: string, catalogue: Catalogue | null = null): ValidatorConfig {
  const text = readText(path)
  if (text.length > MOST_BYTES) throw bad(path, null, 'the file is too large')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false })
  const [broken] = document.errors
  if (broken) throw bad(path, lines.linePos(broken.pos[0]).line, printable(broken.message.split('\n')[0]!))
  const parsed = schema.safeParse(readValue(document, path) ?? {}, { error: inWords })
  if (!parsed.success) throw badField(path, parsed.error.issues, (at) => lineOf(document, lines, at))
  for (const [i, { claim, address }] of parsed.data.boxes.entries()) {
    ensureAddress(address, (problem) => bad(path, lineOf(document, lines, ['boxes', i, 'address']), problem))
    const where = place(path, lineOf(document, lines, ['boxes', i, 'claim']))
    if (claim !== null && catalogue !== null) requireClaim(claim, catalogue, `${where}: `)
  }
  return { ...parsed.data, base: dirname(resolve(path)) }
}

function ensureAddress(address: string, told: (problem: string) => Error): void {
  try {
    readTarget(address)
  } catch (error) {
    throw told((error as Error).message)
  }
}

type Field = readonly (string | number)[]

const MISSING = 'is missing'
const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of fields',
}

/** What zod says of types, in the words of people. */
function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return MISSING
  return issue.code === 'invalid_type' ? `must be ${TYPES[issue.expected] ?? issue.expected}` : undefined
}

function badField(path: string, issues: readonly z.core.$ZodIssue[], line: (at: Field) => number | null) {
  // A misspelt name says more than the missing field it stands for.
  const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]!
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys[0]! : null
  // What YAML holds has no symbols.
  const at = [...(issue.path as (string | number)[]), ...(unknown ? [unknown] : [])]
  const problem = unknown ? 'no such field' : issue.message
  const name = printable(at.join('.')) || 'the file'
  return bad(path, line(at), problem === MISSING ? `${name} ${problem}` : `${name}: ${problem}`)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw fault('CONFIG_UNREADABLE', { path }, cause)
  }
}

/** Aliases can make a small file a huge value, and a file of settings needs none. */
function readValue(document: Document, path: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 })
  } catch {
    throw bad(path, null, 'anchors and aliases are not read')
  }
}

type Document = ReturnType<typeof parseDocument>

/** The line of the field, or of the innermost part of the path that is there. */
function lineOf(document: Document, lines: LineCounter, path: Field): number | null {
  for (let depth = path.length; depth > 0; depth--) {
    const parent = document.getIn(path.slice(0, depth - 1), true) as { items?: unknown[] } | undefined
    const name = path[depth - 1]
    const pair = parent?.items?.find((item) => (item as { key?: { value?: unknown } }).key?.value === name)
    const key = (pair as { key?: { range?: [number] } } | undefined)?.key
    const node = key ?? (document.getIn(path.slice(0, depth), true) as { range?: [number] } | undefined)
    if (node?.range) return lines.linePos(node.range[0]).line
  }
  return null
}

const place = (path: string, line: number | null): string => `${path}${line === null ? '' : `, line ${line}`}`

const bad = (path: string, line: number | null, problem: string) =>
  fault('BAD_CONFIG', { path, line: line ?? 0, place: place(path, line), problem })
