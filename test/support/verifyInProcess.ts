import type { InTurn } from '../../src/apps/shared/takeTurns.ts'
import { askOf } from '../../src/apps/validator/askOf.ts'
import { type BoxReport, type VerifyOptions, verifyBox } from '../../src/apps/validator/verifyBox.ts'
import type { AttestationReader } from '../../src/core/attest/attestationReader.ts'
import type { Signer } from '../../src/core/bytes/ed25519.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import { PRESETS } from '../../src/core/params/presets.ts'
import { referenceEngine } from '../../src/core/proof/referenceEngine.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import type { ChainAnchor } from '../../src/ports/chainAnchor.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { TouchstoneError } from '../../src/ports/errors.ts'
import type { Randomness } from '../../src/ports/randomness.ts'
import type { WalkChecker } from '../../src/ports/walkChecker.ts'
import { inlineChecker } from './inlineChecker.ts'
import { openInProcessBox, type ProverProgram } from './inProcessBox.ts'
import { seededRandomness } from './seededRandomness.ts'
import { testSigner } from './testSigner.ts'
import { VirtualClock } from './virtualClock.ts'

export const VALIDATOR = testSigner(1)

/** The preset of tests: one int8 part, nothing else, unless said otherwise. */
export const TINY: VerifyOptions = askOf(
  { preset: PRESETS.tiny, precisions: ['int8'], memory: false, bind: false },
  'touchstone test',
)

export interface InProcess {
  readonly program: ProverProgram
  readonly catalogue: Catalogue
  readonly options?: Partial<VerifyOptions>
  readonly engine?: TileEngine
  readonly clock?: Clock
  readonly randomness?: Randomness
  readonly signer?: Signer
  readonly chunkBytes?: number
  readonly walkChecker?: WalkChecker
  readonly attestation?: AttestationReader
  readonly anchor?: ChainAnchor
  readonly inTurn?: InTurn
  /** How the box lets go of us. */
  readonly close?: () => Promise<void>
}

/** The real verifyBox against a program in this process, in virtual time. */
export function verifyInProcess(given: InProcess, signal = new AbortController().signal): Promise<BoxReport> {
  const { program, options = {}, engine = referenceEngine, clock = new VirtualClock(), chunkBytes } = given
  const box = openInProcessBox(program, chunkBytes === undefined ? {} : { chunkBytes })
  return verifyBox(
    { ...TINY, ...options },
    {
      clock,
      randomness: given.randomness ?? seededRandomness(0),
      signer: given.signer ?? VALIDATOR,
      checker: inlineChecker(engine),
      catalogue: given.catalogue,
      ...(given.walkChecker ? { walkChecker: given.walkChecker } : {}),
      ...(given.attestation ? { attestation: given.attestation } : {}),
      ...(given.anchor ? { anchor: given.anchor } : {}),
      ...(given.inTurn ? { inTurn: given.inTurn } : {}),
      connect: async () => ({ ...box, close: given.close ?? (() => box.close()) }),
    },
    signal,
  )
}

/** ACCEPTED, the reason of a rejection, or the code of a fault. */
export async function outcomeOf(running: Promise<BoxReport>): Promise<string> {
  try {
    const { judgement } = await running
    return judgement.reason?.code ?? 'ACCEPTED'
  } catch (error) {
    if (error instanceof TouchstoneError) return error.detail.code
    throw error
  }
}
