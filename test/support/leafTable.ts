import type { KINDS } from './readableFiles.ts'

/** Where a value of the other side stands in what a command says, and the words that say whose it is. */
export interface Told {
  /** On one line; whatever else stands there must not change with it. */
  readonly text?: RegExp
  /** Keys of the report. */
  readonly json: readonly string[]
  /** What the text says of it, wherever that is. */
  readonly whose: RegExp
}

/** Places of a document that somebody else wrote. One that stands nowhere here fails the test. */
export interface Places {
  /** Another value loses the yes. `x.**` is all below x. */
  readonly counted: string
  /** Shown, and said to be somebody's word. */
  readonly told: Readonly<Record<string, Told>>
  /** Shown nowhere. */
  readonly unseen: string
}

const TIMES_TOLD = {
  text: /(?<= issued )\S+, [\w ]+ before this check valid until \S+/,
  json: ['issuedAt', 'startedAt', 'notAfter', 'ageSeconds'],
}
const CLAIMED = /(?<= device (?:0 )?claimed: )"[^"]*"/

const timesOf = (prefix: string, whose: RegExp) => {
  const told = { ...TIMES_TOLD, whose }
  return {
    [`${prefix}issuedAt`]: told,
    [`${prefix}startedAt`]: { ...told, json: ['startedAt'] },
    [`${prefix}notAfter`]: told,
  }
}

/** What every receipt of a work says. */
const WORKED = `_type predicateType subject subject.* subject.*.name subject.*.digest subject.*.digest.sha256 predicate
  predicate.spec predicate.orderId predicate.seed predicate.evidence predicate.evidence.bytes predicate.evidence.sha256`
const UNSEEN_OF_WORK = 'predicate.program predicate.elapsedUs'
const BY_WHOM =
  / who vouches for the draws, for the times and for who computed it| For the times, and for who computed it, trust /
const toldOfWork = {
  ...timesOf('predicate.', BY_WHOM),
  'predicate.device': { text: CLAIMED, json: ['device'], whose: / device claimed: / },
  'subject.*.digest.ed25519': { text: /(?<= prover )[0-9a-f]{64}/, json: ['prover'], whose: BY_WHOM },
}

const OPENED = `${WORKED} predicate.drawnBy predicate.firstRoot predicate.nonces`

const SIGNER_VOUCHES = / The signer vouches for the times, /
const CERTIFICATE = `_type predicateType subject subject.* subject.*.name subject.*.digest subject.*.digest.sha256
  subject.*.digest.ed25519 predicate predicate.preset predicate.challenge predicate.ready predicate.parts
  predicate.parts.* predicate.parts.*.s predicate.parts.*.z predicate.parts.*.zSentUs predicate.parts.*.nonce
  predicate.parts.*.devices predicate.parts.*.devices.* predicate.parts.*.devices.*.device
  predicate.parts.*.devices.*.roots predicate.parts.*.devices.*.arrivalsUs predicate.parts.*.devices.*.openings
  predicate.result predicate.result.** predicate.claims predicate.claims.inventory predicate.claims.inventory.devices.*
  predicate.claims.inventory.devices.*.class predicate.claims.text
  predicate.claims.telemetry predicate.figures predicate.figures.** predicate.judgement predicate.judgement.**
  predicate.catalogue predicate.catalogue.**`
const UNSEEN_OF_RUN = `predicate.program predicate.parts.*.devices.*.arrivalsUs.* predicate.roundTripUs
  predicate.claims.inventory.program predicate.claims.inventory.devices predicate.claims.inventory.devices.*.backEnd
  predicate.claims.inventory.devices.*.memoryBytes predicate.claims.inventory.devices.*.freeBytes
  predicate.claims.inventory.devices.*.precisions predicate.claims.inventory.devices.*.precisions.*
  predicate.claims.inventory.devices.*.details predicate.claims.inventory.host`
const toldOfRun = {
  ...timesOf('predicate.', SIGNER_VOUCHES),
  'predicate.claims.inventory.devices.*.name': { text: CLAIMED, json: [], whose: / device 0 claimed: / },
}

const EVIDENCE =
  'format devices devices.*.arch devices.*.nonce devices.*.evidence devices.*.certificate rims.* ocsp.* cpu'

/** By the kind of file: what `check` makes of each place in it, where its author signs whatever he likes. */
export const LEAF_TABLE: Readonly<Partial<Record<keyof typeof KINDS, Places>>> = {
  'certificate of an insecure preset': { counted: CERTIFICATE, told: toldOfRun, unseen: UNSEEN_OF_RUN },
  'certificate with evidence of a vendor': {
    counted: `${CERTIFICATE} predicate.attestation predicate.attestation.**`,
    told: toldOfRun,
    unseen: `${UNSEEN_OF_RUN} predicate.claims.inventory.devices.*.details.**`,
  },
  'certificate with evidence in an unknown form': {
    counted: CERTIFICATE,
    told: {
      ...toldOfRun,
      'predicate.attestation.format': {
        text: /(?<= attestation )\S+(?=, which this version does not check)/,
        json: [],
        whose: /, which this version does not check /,
      },
      'predicate.attestation': {
        text: / attestation \S+, which this version does not check/,
        json: ['tier'],
        whose: /, which this version does not check /,
      },
    },
    unseen: `${UNSEEN_OF_RUN} predicate.attestation.open predicate.attestation.open.* predicate.attestation.close
      predicate.attestation.close.*`,
  },
  'summary with its certificate': {
    counted: '_type predicateType subject subject.** predicate predicate.**',
    told: {},
    unseen: '',
  },
  'evidence of a GPU': { counted: EVIDENCE, told: {}, unseen: 'devices.* rims ocsp' },
  'evidence of a GPU and a processor': { counted: `${EVIDENCE} cpu.**`, told: {}, unseen: 'devices.* rims ocsp' },
  'evidence of a GPU beside a receipt': { counted: EVIDENCE, told: {}, unseen: 'devices.* rims ocsp' },
  'receipt by openings': { counted: OPENED, told: toldOfWork, unseen: `${UNSEEN_OF_WORK} predicate.nonces.*` },
  'receipt with transitions proven by sumcheck': {
    counted: `${OPENED} predicate.products`,
    told: toldOfWork,
    unseen: `${UNSEEN_OF_WORK} predicate.nonces.*`,
  },
  'receipt of a product': { counted: WORKED, told: toldOfWork, unseen: UNSEEN_OF_WORK },
  'receipt of a product under codes': {
    counted: `${WORKED} predicate.codes predicate.codes.*`,
    told: toldOfWork,
    unseen: UNSEEN_OF_WORK,
  },
  'receipt of a private answer': {
    counted: `_type predicateType subject subject.** predicate predicate.classes predicate.inner predicate.inputs
      predicate.evidence predicate.evidence.**`,
    told: timesOf('predicate.', / For the times trust the signer/),
    unseen: 'predicate.program',
  },
}
