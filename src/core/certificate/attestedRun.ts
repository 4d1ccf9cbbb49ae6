import type { AttestationReader, CarriedEvidence } from '../attest/attestationReader.ts'
import type { Tier } from '../attest/checkBundle.ts'
import type { AttestDoubt } from '../attest/doubts.ts'
import type { Refusal } from '../attest/refusals.ts'
import type { Catalogue } from '../identify/catalogue.ts'
import { parseClaim } from '../identify/parseClaim.ts'
import { challengeHash, encodeChallenge } from '../proof/challenge.ts'
import type { DeviceClass } from '../proof/sizeClass.ts'
import { partQuery, type Run } from '../proof/verifyPart.ts'
import { cardsOf } from './judgementSchema.ts'
import type { Judgement } from './judgeRun.ts'

/** What the vendors of the hardware vouch for in a run. */
export interface AttestedRun {
  /** C where nothing attests or what does was refused, null where it was not checked. */
  readonly tier: Tier | null
  readonly refusal: Refusal | null
  readonly doubts: readonly AttestDoubt[]
  /** Identifiers of the GPUs, hex. */
  readonly chips: readonly string[]
}

const NOTHING = { refusal: null, doubts: [], chips: [] }

export const NOT_ATTESTED: AttestedRun = { ...NOTHING, tier: 'C' }

interface JudgedRun {
  readonly run: Run
  readonly deviceClasses: readonly DeviceClass[]
  readonly atMs: number
  readonly judgement: Judgement
}

/** §9: what was signed must belong to this run, and to the devices that took part. */
export async function attestedRun(
  carried: CarriedEvidence,
  { run, deviceClasses, atMs, judgement }: JudgedRun,
  reader: AttestationReader | undefined,
  catalogue: Catalogue,
): Promise<AttestedRun> {
  const { challenge, parts } = run
  const wanted = chipsOf(judgement, catalogue)
  const found = await reader?.checkRun(carried, {
    x: challengeHash(encodeChallenge(challenge)),
    queries: parts.map((_, p) => partQuery(run, p)),
    proverKey: challenge.proverKey,
    gpus: deviceClasses.slice(0, challenge.deviceCount).filter((name) => name === 'gpu').length,
    chips: wanted,
    atMs,
  })
  if (!found) return { ...NOTHING, tier: null }
  if ('code' in found) return { ...NOT_ATTESTED, refusal: found }
  const chips = found.devices.filter(({ arch }) => arch !== 'LS10').map(({ pdi }) => pdi)
  // One rate held back makes a card unknown, and any chip would do for it (attack 413).
  const isUnknown = judgement.devices.some(
    ({ identity }, i) => identity.status === 'unknown' && wanted[i]!.length === 0,
  )
  const doubts = isUnknown ? [...found.doubts, { code: 'CHIP_NOT_COMPARED' } as const] : found.doubts
  return { tier: found.tier, refusal: null, doubts, chips }
}

/** Where a claim matches, its cards are what is paid for, whatever else the rates resemble (attack 392). */
function chipsOf({ claim, devices }: Judgement, catalogue: Catalogue): readonly (readonly string[])[] {
  const sold = claim?.verdict === 'matches' ? parseClaim(claim.text, catalogue) : null
  return devices.map(({ identity }) => {
    if (identity.status === 'cpu') return []
    const cards = cardsOf(identity)
    const models = sold?.ok ? sold.claim.models : catalogue.models.filter(({ id }) => cards.includes(id))
    return models.map(({ chip }) => chip)
  })
}
