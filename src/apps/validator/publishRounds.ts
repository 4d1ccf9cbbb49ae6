import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { MOST_ENTRIES, sealRound } from '../../core/ledger/roundRecord.ts'
import type { ScoreConfig } from '../../core/score/scoreConfig.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import type { Ledger, Publication } from '../../ports/ledger.ts'
import type { KeptRound, Standing } from '../../ports/store.ts'
import { fault } from '../shared/faults.ts'
import { scoreNow } from '../shared/scoreNow.ts'
import { within } from '../shared/within.ts'
import type { FleetDeps } from './fleet/fleet.ts'

export interface PublisherDeps extends Pick<FleetDeps, 'store' | 'clock' | 'log' | 'metrics'> {
  readonly ledger: Ledger
  readonly signer: Signer
  readonly decay: ScoreConfig['decay']
}

const POLL_MS = 5_000
/** A ledger that hangs is asked again later. */
const STEP_LIMIT_MS = 120_000
/** What was sent is looked for soon; what failed is left alone for longer each time. */
const PENDING = { firstMs: 5_000, mostMs: 60_000 }
const FAILED = { firstMs: 15_000, mostMs: 3_600_000 }

const delayOf = ({ firstMs, mostMs }: typeof PENDING, tries: number): number =>
  Math.min(firstMs * 2 ** Math.min(tries, 20), mostMs)

/**
 * Closes rounds and publishes them until the signal fires. A round is signed and stored before it is sent, so that whatever
 * fails in between, and wherever this process ends, the same round is sent again; the ledger takes it once.
 */
export async function publishRounds(deps: PublisherDeps, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps
  let closed: number | null = null
  while (!signal.aborted) {
    try {
      closed = await closeRound(deps, closed)
      while (!signal.aborted && (await publishNext(deps, signal))) {}
    } catch (error) {
      const code = error instanceof TouchstoneError ? error.detail.code : 'STORE'
      if (!signal.aborted) log.warn('rounds are kept back; trying again', { code })
    }
    await clock.sleep(POLL_MS, signal).catch(() => {})
  }
}

/** Closes the last round that is over: all its jobs are done and its scores count, or a later one was opened. Never an old one. */
async function closeRound(
  { store, clock, signer, decay, log }: PublisherDeps,
  closed: number | null,
): Promise<number | null> {
  const { items } = await store.rounds({ after: null, limit: 2 })
  const over = items.find(({ settled, jobs, done }, i) => i > 0 || (settled && done === jobs))
  if (over === undefined || (closed !== null && closed >= over.number)) return closed
  const before = await store.keptRound(toHex(signer.publicKey), null)
  if (before !== null && before.record.round >= over.number) return before.record.round
  const standings = await store.standings()
  if (standings.length === 0) return closed
  if (standings.length > MOST_ENTRIES) throw fault('ROUND_TOO_LARGE', { boxes: standings.length, most: MOST_ENTRIES })
  const now = clock.wallTime()
  const entries = standings.map((standing) => entryOf(standing, scoreNow(standing, now, decay)))
  const record = sealRound({ round: over.number, closedAtMs: now.getTime(), entries }, signer)
  if (await store.keepRound(record)) log.info('round closed', { round: over.number, boxes: entries.length })
  return over.number
}

/** A box without a score has earned it with nothing. */
const entryOf = ({ id, certificate }: Standing, score: number) => ({
  box: id,
  score,
  certificate: score > 0 ? certificate : null,
})

/** One step with the oldest round that is due; true where the next one may be due too. */
async function publishNext(deps: PublisherDeps, signal: AbortSignal): Promise<boolean> {
  const { store, signer, metrics, log } = deps
  const kept = await store.dueRound(toHex(signer.publicKey))
  if (kept === null) return false
  const { record, tries } = kept
  const { round } = record
  try {
    const step = await oneStep(deps, kept, signal)
    const isPending = step.kind === 'pending'
    const said = step.kind === 'published' ? step.where : step.why
    const retryInMs = isPending ? delayOf(PENDING, tries) : null
    await store.noteRound(record, { state: isPending ? 'waiting' : step.kind, said, retryInMs })
    if (step.kind === 'published') metrics.set('touchstone_round_published', round)
    log[LEVELS[step.kind]](WORDS[step.kind], { round, said })
    return !isPending
  } catch (error) {
    if (signal.aborted || !(error instanceof TouchstoneError)) throw error
    const { code } = error.detail
    metrics.add('touchstone_ledger_errors_total', { code })
    // Told once, not at every try.
    if (kept.said !== code) log.warn('round not published; trying again', { round, code, why: error.message })
    await store.noteRound(record, { state: 'waiting', said: code, retryInMs: delayOf(FAILED, tries) })
    return false
  }
}

const WORDS = { published: 'round published', pending: 'round on its way', refused: 'round refused for good' } as const
const LEVELS = { published: 'info', pending: 'debug', refused: 'error' } as const

async function oneStep(
  { ledger, clock }: PublisherDeps,
  { record }: KeptRound,
  signal: AbortSignal,
): Promise<Publication> {
  const over = new AbortController()
  try {
    const work = ledger.publish(record, AbortSignal.any([signal, over.signal]))
    work.catch(() => {})
    const step = await within(clock, STEP_LIMIT_MS, work, signal)
    signal.throwIfAborted()
    if (step === null) throw fault('LEDGER_SILENT', { seconds: STEP_LIMIT_MS / 1000 })
    return step
  } finally {
    over.abort()
  }
}
