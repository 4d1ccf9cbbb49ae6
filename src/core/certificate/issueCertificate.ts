import type { CarriedEvidence } from '../attest/attestationReader.ts'
import { toBase64 } from '../bytes/base64.ts'
import { concatBytes } from '../bytes/bytes.ts'
import type { Signer } from '../bytes/ed25519.ts'
import { toHex } from '../bytes/hex.ts'
import { challengeHash, encodeChallenge, resultMessage } from '../proof/challenge.ts'
import { figuresOf } from '../proof/figures.ts'
import { partQuery } from '../proof/verifyPart.ts'
import { toInstant } from '../units/instants.ts'
import { sealEnvelope, sealInSlices } from './envelope.ts'
import type { JudgeInputs, Judgement } from './judgeRun.ts'
import { type Slices, workAtOnce, workInSlices } from './slices.ts'
import { ASKED_DEVICES, PLACE, PREDICATE_TYPES, STATEMENT_TYPE, type Statement, statePart } from './statement.ts'

type Predicate = Statement['predicate']

export interface IssueInputs
  extends Pick<JudgeInputs, 'run' | 'claim' | 'catalogue' | 'roundTripUs'>,
    Pick<Predicate, 'program' | 'preset'>,
    Pick<Predicate['claims'], 'inventory' | 'telemetry'> {
  /** Milliseconds since 1970. */
  readonly issuedMs: number
  readonly validSeconds?: number | undefined
  /** How long it took by the clock that nobody sets. */
  readonly seconds: number
  readonly readySignature: Uint8Array
  /** Empty when the run ended before its result. */
  readonly resultSignature: Uint8Array
  readonly faults: NonNullable<Predicate['claims']['faults']>
  readonly judgement: Judgement
  /** Where the signer found the box, if the certificate is to say so. */
  readonly place?: string | undefined
  /** Which of its devices the box was asked for, where not for all. */
  readonly askedDevices?: string | null
  /** §9: what the hardware's vendors signed, where they did. */
  readonly attestation?: CarriedEvidence | undefined
  /** §10: the block behind each S_p, where a chain was at hand. */
  readonly anchor?: Predicate['anchor'] | null
}

/** C3: afterwards a certificate is evidence of the past, and no longer says what a box is. */
const VALID_SECONDS = 30 * 24 * 3600

/** §10. The evidence of one run as a signed file that anyone re-checks offline. */
export const issueCertificate = (inputs: IssueInputs, signer: Signer): string =>
  sealEnvelope(concatBytes(...workAtOnce(stating(inputs, signer))), signer)

/** The same in slices, for whoever has other boxes on the line: 32 devices make 70 MB (attack 162). */
export async function issueInSlices(inputs: IssueInputs, signer: Signer, pause: () => Promise<void>): Promise<string> {
  return await sealInSlices(await workInSlices(stating(inputs, signer), pause), signer, pause)
}

/** The statement, in pieces. */
function* stating(inputs: IssueInputs, signer: Signer): Slices<readonly Uint8Array[]> {
  const { run } = inputs
  const complete = run.parts.length === run.challenge.parts.length && inputs.resultSignature.length > 0
  const queries: Uint8Array[] = []
  const parts: Uint8Array[] = []
  for (const [p, part] of run.parts.entries()) {
    yield
    if (complete) queries.push(partQuery(run, p))
    yield
    parts.push(utf8(`${p > 0 ? ',' : ''}${JSON.stringify(statePart(part))}`))
  }
  const validator = complete ? toBase64(signer.sign(resultMessage(run.challenge, queries))) : ''
  const rest = JSON.stringify(stateRest(inputs, complete, validator))
  // Quotes inside of a text are escaped, so this is the field itself.
  const at = rest.indexOf('"parts":[') + '"parts":['.length
  return [utf8(rest.slice(0, at)), ...parts, utf8(rest.slice(at))]
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Everything but the parts, which are most of it. */
function stateRest(inputs: IssueInputs, complete: boolean, validator: string): Statement {
  const { run } = inputs
  const canonical = encodeChallenge(run.challenge)
  return {
    _type: STATEMENT_TYPE,
    subject: [
      { name: `run ${toHex(run.challenge.runId)}`, digest: { sha256: toHex(challengeHash(canonical)) } },
      { name: 'prover', digest: { ed25519: toHex(run.challenge.proverKey) } },
    ],
    predicateType: PREDICATE_TYPES[2],
    predicate: {
      program: inputs.program,
      issuedAt: toInstant(inputs.issuedMs),
      preset: inputs.preset,
      challenge: toBase64(canonical),
      ready: toBase64(inputs.readySignature),
      parts: [],
      result: complete ? { prover: toBase64(inputs.resultSignature), validator } : null,
      claims: {
        inventory: inputs.inventory,
        text: inputs.claim,
        telemetry: inputs.telemetry,
        ...(inputs.faults.length > 0 ? { faults: inputs.faults.map(({ code, text }) => ({ code, text })) } : {}),
      },
      figures: figuresOf(run),
      judgement: inputs.judgement,
      roundTripUs: inputs.roundTripUs,
      startedAt: toInstant(inputs.issuedMs - Math.ceil(1000 * inputs.seconds)),
      notAfter: toInstant(inputs.issuedMs + 1000 * (inputs.validSeconds ?? VALID_SECONDS)),
      catalogue: inputs.catalogue,
      ...(inputs.anchor ? { anchor: inputs.anchor } : {}),
      ...(inputs.attestation ? { attestation: inputs.attestation } : {}),
      ...extensionsOf(inputs),
    },
  }
}

/** C3: words of the signer that change the meaning of nothing else. */
function extensionsOf({ place, askedDevices }: IssueInputs): Pick<Predicate, 'extensions'> {
  const said = { ...(place && { [PLACE]: place }), ...(askedDevices && { [ASKED_DEVICES]: askedDevices }) }
  return Object.keys(said).length === 0 ? {} : { extensions: said }
}
