import { expect } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type ChildEvents, gone, killHard, type LeasedBox } from '../support/leaseCrash.ts'
import { isAlive } from '../support/processes.ts'

/** Long enough for a login on a busy machine, so that crashes hit every stage of a lease. */
export const LEASE_SECONDS = 4
/** What a busy machine may add before anybody gets to look; how late it really was is in the result. */
const SLACK_MS = 5_000

export interface CrashPlan {
  readonly victim: 'provider' | 'validator' | 'both'
  /** A stage of the lease to wait for, or a time since it was asked for. */
  readonly when: 'asking' | 'connected' | 'held' | number
  /** Whether somebody starts the provider again, or nobody ever does. */
  readonly restart: boolean
}

export interface CrashResult {
  readonly stage: 'asked' | 'connected' | 'running'
  /** When access was seen for the last time, relative to the end of the lease; null if no lease came about. */
  readonly seenMs: number | null
}

const latestMs = (asked: Record<string, unknown>): number => (asked.atMs as number) + 1000 * LEASE_SECONDS + SLACK_MS

const isClean = (box: LeasedBox, pids: readonly number[]): boolean =>
  box.leasedKeys().length === 0 && box.openFolders().length === 0 && !pids.some(isAlive)

/** Kills one side or both at some instant of a lease, with SIGKILL, and says when the last trace of access was gone. */
export async function crashOnce(box: LeasedBox, plan: CrashPlan): Promise<CrashResult> {
  if (box.provider === null || gone(box.provider)) await box.startProvider()
  const holder = box.startHolder(LEASE_SECONDS)
  await eventually(() => holder.find('asking') !== undefined || gone(holder))
  const asked = holder.find('asking')
  if (asked === undefined) throw new Error(`the validator did not start: ${JSON.stringify(holder.events)}`)
  const { when } = plan
  if (typeof when === 'number') await new Promise((resolve) => setTimeout(resolve, when))
  // On a busy machine a lease may be over before it gets that far: then the crash comes at its end.
  else await eventually(() => holder.find(when) !== undefined || gone(holder) || Date.now() > latestMs(asked))
  const victims: ChildEvents[] = []
  if (plan.victim !== 'validator') victims.push(box.provider!)
  if (plan.victim !== 'provider') victims.push(holder)
  await Promise.all(victims.map(killHard))
  const stage = holder.find('held') ? 'running' : holder.find('connected') ? 'connected' : 'asked'
  const pids = (): number[] => (holder.find('held')?.pids as number[] | undefined) ?? []
  const endMs = (): number => box.lastExpiryMs(asked.atMs as number) ?? (asked.atMs as number) + 1000 * LEASE_SECONDS
  let lastSeenMs = 0
  const closing = eventually(() => {
    if (isClean(box, pids())) return true
    lastSeenMs = Date.now()
    return lastSeenMs > endMs() + SLACK_MS
  })
  if (plan.restart && plan.victim !== 'validator') await box.startProvider()
  await closing
  const seenMs = box.lastExpiryMs(asked.atMs as number) === null || lastSeenMs === 0 ? null : lastSeenMs - endMs()
  expect(box.leasedKeys()).toEqual([])
  expect(box.openFolders()).toEqual([])
  expect(pids().filter(isAlive)).toEqual([])
  if (!gone(holder)) await killHard(holder)
  // A validator that was only slow may have been let in after the first look: its lease must end as well.
  await eventually(() => isClean(box, pids()))
  return { stage, seenMs }
}
