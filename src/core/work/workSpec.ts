import * as z from 'zod'
import { canonicalJson } from '../bytes/canonicalJson.ts'
import { count, hex, plainText } from '../bytes/fields.ts'
import { parseProtoless } from '../bytes/parseStrictJson.ts'
import { requireThat } from './refusals.ts'

/** A specification is short: what is large is an input, named by its root. */
export const MAX_SPEC_BYTES = 64 * 1024
const MAX_TRANSITIONS = 10_000_000
const MAX_INPUTS = 1024

const schema = z.strictObject({
  kind: z.string().regex(/^[a-z][a-z-]{0,39}$/),
  version: z.literal(1),
  /** Judged by the kind. */
  parameters: z.record(z.string().regex(/^[a-z][A-Za-z0-9]{0,39}$/), z.json()),
  /** Tensors that are handed in, each by the root of its tree; the URI says where it may be found, and is never trusted. */
  inputs: z
    .array(z.strictObject({ name: z.string().regex(/^[A-Za-z0-9._-]{1,120}$/), uri: plainText(1000), root: hex(32) }))
    .max(MAX_INPUTS),
  transitions: count.min(1).max(MAX_TRANSITIONS),
  /** Transitions between two states that are committed. */
  interval: count.min(1).max(MAX_TRANSITIONS),
})

/** W3.1. What is to be computed: the same text, the same result, on every device. */
export type WorkSpec = z.infer<typeof schema>

/** The one spelling of a specification. */
export const encodeSpec = (spec: WorkSpec): string => canonicalJson(spec)

/** Refuses any other spelling: two texts are two works. */
export function decodeSpec(text: string): WorkSpec {
  requireThat(text.length <= MAX_SPEC_BYTES, 'TOO_BIG', `the specification has ${text.length} characters`)
  const parsed = schema.safeParse(parseOrNull(text))
  requireThat(parsed.success, 'BAD_SPEC', `at ${parsed.error?.issues[0]?.path.join('.') || 'its beginning'}`)
  requireThat(encodeSpec(parsed.data) === text, 'BAD_SPEC', 'it is not written in the one form it has')
  const names = parsed.data.inputs.map(({ name }) => name)
  requireThat(new Set(names).size === names.length, 'BAD_SPEC', 'an input is named twice')
  return parsed.data
}

function parseOrNull(text: string): unknown {
  try {
    return parseProtoless(text)
  } catch {
    return null
  }
}

/** Transitions after which a state is committed, ascending: the ends of the segments. */
export function segmentEnds({ transitions, interval }: Pick<WorkSpec, 'transitions' | 'interval'>): readonly number[] {
  const segments = Math.ceil(transitions / interval)
  return Array.from({ length: segments }, (_, i) => Math.min((i + 1) * interval, transitions))
}
