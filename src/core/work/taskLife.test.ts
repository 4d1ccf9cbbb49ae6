import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { advanceTask, expireTask, newTask, type Task, type TaskEvent } from './taskLife.ts'

const way: TaskEvent[] = ['assign', 'execute', 'prove', 'submit', 'verify', 'accept', 'reward']
const follow = (events: readonly TaskEvent[]) =>
  events.reduce<Task | null>((task, event, i) => task && advanceTask(task, event, i + 1), newTask(0, {}))

describe('a task', () => {
  test('is specified, assigned, executed, proven, submitted, verified, accepted and rewarded, in this order alone', () => {
    expect(follow(way)?.state).toBe('rewarded')
    for (const skipped of way.slice(0, -1)) expect(follow(way.filter((event) => event !== skipped))).toBeNull()
  })

  test('can be rejected until it is rewarded, and not afterwards', () => {
    for (let done = 1; done < way.length; done++)
      expect(follow([...way.slice(0, done), 'reject'])?.state).toBe('rejected')
    expect(follow([...way, 'reject'])).toBeNull()
    expect(follow([...way.slice(0, 3), 'reject', 'submit'])).toBeNull()
  })

  test('expires at its deadline, whatever is tried then', () => {
    const task = advanceTask(newTask(0, { assigned: 100 }), 'assign', 10)!
    expect(expireTask(task, 109).state).toBe('assigned')
    expect(expireTask(task, 110)).toMatchObject({ state: 'expired', reason: 'LATE_ASSIGNED', sinceMs: 110 })
    expect(advanceTask(task, 'execute', 110)).toBeNull()
    expect(advanceTask(task, 'execute', 109)?.state).toBe('executed')
  })

  test('is never rewarded without having been verified in time, whatever happens in whatever order', () => {
    const events = fc.array(fc.tuple(fc.constantFrom<TaskEvent>(...way, 'reject'), fc.nat(60)), { maxLength: 40 })
    fc.assert(
      fc.property(events, (happened) => {
        let task = newTask(0, { assigned: 100, executed: 50, verified: 70 })
        let nowMs = 0
        const seen = ['specified']
        for (const [event, later] of happened) {
          nowMs += later
          const next = advanceTask(task, event, nowMs)
          if (next) seen.push(next.state)
          task = next ?? expireTask(task, nowMs)
        }
        const rewarded = seen.indexOf('rewarded')
        const order = ['specified', 'assigned', 'executed', 'proven', 'submitted', 'verified', 'accepted', 'rewarded']
        if (rewarded >= 0) expect(seen.slice(0, rewarded + 1)).toEqual(order)
        expect(task.sinceMs).toBeLessThanOrEqual(nowMs)
      }),
    )
  })
})
