import * as z from 'zod'
import { ascii, equalBytes } from '../bytes/bytes.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import { parseStrictJson } from '../bytes/parseStrictJson.ts'
import { toInstant, toMillis } from '../units/instants.ts'
import { verifyChain } from './chain.ts'
import { ensureNotListed } from './crl.ts'
import { type Der, DerReader, opened, readOid, readSmall, TAG } from './der.ts'
import { readPem } from './pem.ts'
import { malformed, refuse } from './refusals.ts'
import type { TdxRules } from './tdx.ts'
import { type Certificate, readCertificate } from './x509.ts'

/** What a quote says of Intel's module, of the quoting enclave, and of the processor. */
interface Quoted {
  readonly module: { readonly svn: Uint8Array; readonly signer: Uint8Array; readonly attributes: Uint8Array }
  readonly enclave: QuotedEnclave
  readonly chain: readonly Certificate[]
}

export interface QuotedEnclave {
  readonly miscSelect: Uint8Array
  readonly attributes: Uint8Array
  readonly signer: Uint8Array
  readonly product: number
  readonly svn: number
}

const WHAT = "Intel's collateral"
const svn = z.int().min(0).max(65_535)
const time = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
const digits = z
  .string()
  .max(128)
  .regex(/^([0-9A-Fa-f]{2})+$/)
const status = z.string().max(40)
/** Intel may add fields: these are the ones that decide. */
const dated = { issueDate: time, nextUpdate: time }
const enclaveLevels = z.array(z.object({ tcb: z.object({ isvsvn: svn }), tcbStatus: status })).max(64)
const masked = { mrsigner: digits, attributes: digits, attributesMask: digits }
const components = z.array(z.object({ svn })).length(16)

const tcbSchema = z.object({
  ...dated,
  id: z.literal('TDX'),
  version: z.literal(3),
  fmspc: digits,
  pceId: digits,
  tdxModule: z.object(masked),
  tdxModuleIdentities: z
    .array(z.object({ id: z.string().max(20), ...masked, tcbLevels: enclaveLevels }))
    .max(64)
    .default([]),
  tcbLevels: z
    .array(
      z.object({
        tcb: z.object({ sgxtcbcomponents: components, tdxtcbcomponents: components, pcesvn: svn }),
        tcbStatus: status,
      }),
    )
    .max(256),
})

const enclaveSchema = z.object({
  ...dated,
  ...masked,
  id: z.literal('TD_QE'),
  version: z.literal(2),
  miscselect: digits,
  miscselectMask: digits,
  isvprodid: svn,
  tcbLevels: enclaveLevels,
})

/** Names of the collateral's fields, as Intel's services and the tools that fetch from them have them. */
const FIELDS = ['tcb_info', 'qe_identity', 'pck_crl', 'root_ca_crl'] as const

/** Refuses a processor, module or enclave that is revoked, unknown to Intel's signed lists, or in a state not allowed. */
export async function judgeTcb(
  quoted: Quoted,
  given: Readonly<Record<string, string>>,
  rules: TdxRules,
): Promise<void> {
  const missing = FIELDS.find((name) => given[name] === undefined)
  if (missing) refuse('COLLATERAL_DIFFERS', { where: missing })
  const [leaf, authority, root] = quoted.chain as [Certificate, Certificate, Certificate]
  await ensureNotListed(hexOf(given.root_ca_crl), authority, root, rules)
  await ensureNotListed(hexOf(given.pck_crl), leaf, authority, rules)
  const tcb = await signedJson('tcb_info', tcbSchema, given, rules)
  const enclave = await signedJson('qe_identity', enclaveSchema, given, rules)
  const processor = processorOf(leaf)
  if (tcb.fmspc.toLowerCase() !== processor.fmspc || tcb.pceId.toLowerCase() !== processor.pceId)
    refuse('COLLATERAL_DIFFERS', { where: 'processor family', got: tcb.fmspc, expected: processor.fmspc })
  const states = [
    ['processor', platformStatus(tcb, processor, quoted.module.svn)],
    ['module', moduleStatus(tcb, quoted.module)],
    ['quoting enclave', enclaveStatus(enclave, quoted.enclave)],
  ] as const
  for (const [where, got] of states)
    if (got === null || !rules.allowed.includes(got)) refuse('CPU_TCB_REFUSED', { where, got: got ?? 'unknown' })
}

/** A statement of Intel's: signed under its root, and of that time. */
async function signedJson<S extends z.ZodType<{ issueDate: string; nextUpdate: string }>>(
  name: 'tcb_info' | 'qe_identity',
  schema: S,
  given: Readonly<Record<string, string>>,
  rules: TdxRules,
): Promise<z.infer<S>> {
  const chain = readPem(ascii(given[`${name}_issuer_chain`] ?? ''), 2).map(readCertificate)
  await verifyChain(chain, rules, `certificate of ${name}`)
  if (chain.length !== 2) refuse('CHAIN_LENGTH', { where: name, got: chain.length, expected: 2 })
  await ensureNotListed(hexOf(given.root_ca_crl), chain[0]!, chain[1]!, rules)
  const text = given[name]!
  const { scheme, spki } = chain[0]!.key
  const signature = hexOf(given[`${name}_signature`])
  if (!(await rules.check(scheme, spki, new TextEncoder().encode(text), signature)))
    refuse('CHAIN_BROKEN', { where: name })
  const parsed = schema.safeParse(jsonOf(text))
  if (!parsed.success) return malformed(WHAT)
  const { issueDate, nextUpdate } = parsed.data
  const isOfThatTime = rules.atMs >= toMillis(issueDate) && rules.atMs <= toMillis(nextUpdate)
  if (!isOfThatTime) refuse('COLLATERAL_DIFFERS', { where: name, got: issueDate, expected: toInstant(rules.atMs) })
  return parsed.data
}

function jsonOf(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch {
    return malformed(WHAT)
  }
}

const hexOf = (text = ''): Uint8Array => fromHex(text.toLowerCase(), text.length >> 1) ?? malformed(WHAT)

interface Processor {
  readonly fmspc: string
  readonly pceId: string
  readonly components: readonly number[]
  readonly pceSvn: number
}

const INTEL = '1.2.840.113741.1.13.1'

/** What Intel certified of the processor: its family, and the levels of its parts. */
function processorOf({ extensions }: Certificate): Processor {
  const list = opened(extensions.get(INTEL) ?? malformed(WHAT), TAG.sequence, WHAT)
  const fields = pairsIn(list)
  const levels = pairsIn(new DerReader(fields.get(`${INTEL}.2`)?.body ?? malformed(WHAT), WHAT))
  const level = (i: number) => readSmall(levels.get(`${INTEL}.2.${i}`) ?? malformed(WHAT), WHAT)
  const id = (i: number) => toHex(fields.get(`${INTEL}.${i}`)?.body ?? malformed(WHAT))
  return {
    fmspc: id(4),
    pceId: id(3),
    components: Array.from({ length: 16 }, (_, i) => level(i + 1)),
    pceSvn: level(17),
  }
}

function pairsIn(list: DerReader): ReadonlyMap<string, Der> {
  const found = new Map<string, Der>()
  while (!list.done) {
    const pair = list.inside(TAG.sequence)
    found.set(readOid(pair.take(TAG.oid), WHAT), pair.any())
    pair.end()
  }
  return found
}

/** The first of Intel's levels that the processor reaches in every part; the highest comes first. */
function platformStatus(
  { tcbLevels }: z.infer<typeof tcbSchema>,
  { components: own, pceSvn }: Processor,
  moduleSvn: Uint8Array,
): string | null {
  // A module with a version of its own is judged by its own list.
  const from = moduleSvn[1] === 0 ? 0 : 2
  const reached = tcbLevels.find(
    ({ tcb }) =>
      tcb.sgxtcbcomponents.every(({ svn }, i) => own[i]! >= svn) &&
      pceSvn >= tcb.pcesvn &&
      tcb.tdxtcbcomponents.every(({ svn }, i) => i < from || moduleSvn[i]! >= svn),
  )
  return reached?.tcbStatus ?? null
}

function moduleStatus(tcb: z.infer<typeof tcbSchema>, { svn, signer, attributes }: Quoted['module']): string | null {
  const version = svn[1]!
  const named = tcb.tdxModuleIdentities.find(({ id }) => id === `TDX_${toHex(Uint8Array.of(version)).toUpperCase()}`)
  const identity = version === 0 ? { ...tcb.tdxModule, tcbLevels: null } : named
  if (!identity) return null
  const fits =
    equalBytes(signer, hexOf(identity.mrsigner)) && isMasked(attributes, identity.attributes, identity.attributesMask)
  if (!fits) return null
  // Without a list of its own its level was one of the processor's.
  return identity.tcbLevels === null ? 'UpToDate' : levelOf(identity.tcbLevels, svn[0]!)
}

function enclaveStatus(identity: z.infer<typeof enclaveSchema>, enclave: QuotedEnclave): string | null {
  const fits =
    equalBytes(enclave.signer, hexOf(identity.mrsigner)) &&
    isMasked(enclave.attributes, identity.attributes, identity.attributesMask) &&
    isMasked(enclave.miscSelect.toReversed(), identity.miscselect, identity.miscselectMask) &&
    enclave.product === identity.isvprodid
  return fits ? levelOf(identity.tcbLevels, enclave.svn) : null
}

const levelOf = (levels: z.infer<typeof enclaveLevels>, own: number): string | null =>
  levels.find(({ tcb }) => own >= tcb.isvsvn)?.tcbStatus ?? null

function isMasked(value: Uint8Array, expected: string, mask: string): boolean {
  const [want, bits] = [hexOf(expected), hexOf(mask)]
  if (want.length !== value.length || bits.length !== value.length) return false
  return value.every((byte, i) => (byte & bits[i]!) === want[i])
}
