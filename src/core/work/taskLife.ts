/** W3.7. Where a task stands, from its order to its reward. */
export const TASK_STATES = [
  'specified',
  'assigned',
  'executed',
  'proven',
  'submitted',
  'verified',
  'accepted',
  'rejected',
  'rewarded',
  'expired',
] as const

export type TaskState = (typeof TASK_STATES)[number]

/** What may happen to a task, and which state it leads to. */
const EVENTS = {
  assign: { from: ['specified'], to: 'assigned' },
  execute: { from: ['assigned'], to: 'executed' },
  prove: { from: ['executed'], to: 'proven' },
  submit: { from: ['proven'], to: 'submitted' },
  verify: { from: ['submitted'], to: 'verified' },
  accept: { from: ['verified'], to: 'accepted' },
  /** A cheat is found wherever somebody looks; until the reward is paid it is not too late. */
  reject: { from: ['assigned', 'executed', 'proven', 'submitted', 'verified', 'accepted'], to: 'rejected' },
  reward: { from: ['accepted'], to: 'rewarded' },
} as const satisfies Record<string, { readonly from: readonly TaskState[]; readonly to: TaskState }>

export type TaskEvent = keyof typeof EVENTS

/** Milliseconds that a task may stay in a state before it expires; a state that is not named lasts. */
export type Deadlines = Readonly<Partial<Record<TaskState, number>>>

export interface Task {
  readonly state: TaskState
  /** When it came to that state, in milliseconds since 1970. */
  readonly sinceMs: number
  readonly deadlines: Deadlines
  /** Why it was rejected or expired, as a code. */
  readonly reason: string | null
}

export const newTask = (nowMs: number, deadlines: Deadlines): Task => ({
  state: 'specified',
  sinceMs: nowMs,
  deadlines,
  reason: null,
})

/** A task is late at the very moment of its deadline: whoever answers then has answered too late. */
export function expireTask(task: Task, nowMs: number): Task {
  const limit = task.deadlines[task.state]
  if (limit === undefined || nowMs < task.sinceMs + limit) return task
  return { ...task, state: 'expired', sinceMs: task.sinceMs + limit, reason: `LATE_${task.state.toUpperCase()}` }
}

/** The task after an event, or null where it cannot happen now: nothing changes then. */
export function advanceTask(task: Task, event: TaskEvent, nowMs: number, reason: string | null = null): Task | null {
  const now = expireTask(task, nowMs)
  const { from, to } = EVENTS[event]
  const isPossible = (from as readonly TaskState[]).includes(now.state) && nowMs >= now.sinceMs
  return isPossible ? { ...now, state: to, sinceMs: nowMs, reason } : null
}
