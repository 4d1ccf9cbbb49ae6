import type { Fused, FusedTools, Phased } from './fused.ts'
import type { Node } from './graph.ts'

/** Pointers and numbers of a phase, in the order of kernels/cuda/work/phase.h. */
export interface Phase {
  readonly kind: keyof typeof KINDS
  readonly rows: number
  /** Heads of keys of all sequences: each has room in which its blocks meet. */
  readonly heads: number
  readonly places: readonly bigint[]
  readonly words: readonly number[]
}

const KINDS = { linear: 0, attend: 1 } as const
/** As kernels/cuda/work/phase.h, weightRing.h and attendPlace.h have them. */
const PHASE_BYTES = 128
/** Of one launch. */
const MOST_PHASES = 512
const THREADS = 512
const FEW_ROWS = 4
const MEETING_BYTES = 256
const HEAD_BYTES = 4 * (16 + 16 + 4096 + 64 * 128)
/** Slots of weights on their way, the most that a card has room for beside what the phases have for themselves. */
const SLOTS = [5, 3, 1]
const SLOT_BYTES = 4 * 16 * THREADS
const SPACE_BYTES = 47_104 + 24 * MOST_PHASES
const STATIC_BYTES = 4096

function encode({ kind, places, words }: Phase, linears: number, fault: bigint, view: DataView): void {
  view.setBigUint64(0, fault, true)
  view.setUint32(8, KINDS[kind], true)
  view.setUint32(12, linears, true)
  for (const [i, place] of places.entries()) view.setBigUint64(16 + 8 * i, place, true)
  for (const [i, word] of words.entries()) view.setUint32(16 + 8 * places.length + 4 * i, word, true)
}

/** A step, or several as one. */
export interface Planned<Run> {
  readonly nodes: readonly Node[]
  readonly fused: Run
  readonly inputs: readonly string[]
  /** What is made: of several steps, only what others read. */
  readonly outputs: readonly string[]
}

type Unjoined = Planned<Fused | Phased | null>
const isPhased = (action: Unjoined): action is Planned<Phased> => action.fused !== null && 'phase' in action.fused
const isRunnable = (action: Unjoined): action is Planned<Fused | null> => !isPhased(action)

const madeBy = ({ outputs, fused }: Planned<Phased>): readonly string[] => [
  ...outputs,
  ...(fused.reuses ?? []).map(([, to]) => to),
]

/** Phases that come one after the other become one launch, unless one of them reads ahead what another makes. */
export function joinPhases(actions: readonly Unjoined[]): readonly Planned<Fused | null>[] {
  const done: Planned<Fused | null>[] = []
  let open: Planned<Phased>[] = []
  const close = () => {
    if (open.length > 0) done.push(joined(open))
    open = []
  }
  for (const action of actions) {
    if (isRunnable(action)) {
      close()
      done.push(action)
    } else if (isPhased(action)) {
      const made = open.flatMap(madeBy)
      if (open.length === MOST_PHASES || action.fused.ahead.some((name) => made.includes(name))) close()
      open.push(action)
    }
  }
  close()
  return done
}

/** Blocks of the launch wait for each other after each phase, with the next weights on their way. */
function joined(actions: readonly Planned<Phased>[]): Planned<Fused> {
  const parts = actions.map(({ fused }) => fused)
  const nodes = parts.flatMap(({ covers }) => covers)
  const made = new Set(actions.flatMap(madeBy))
  return {
    nodes,
    inputs: [...new Set(actions.flatMap(({ inputs }) => inputs))].filter((name) => !made.has(name)),
    outputs: actions.flatMap(({ outputs }) => outputs),
    fused: {
      parts,
      covers: nodes,
      reuses: parts.flatMap(({ reuses = [] }) => reuses),
      run: (tools) => launch(parts, tools),
    },
  }
}

function launch(parts: readonly Phased[], tools: FusedTools): void {
  const { launcher, products, size, table, faultOf } = tools
  const phases = parts.map((part) => part.phase(tools))
  const bytes = new Uint8Array(PHASE_BYTES * phases.length)
  let linears = 0
  for (const [i, phase] of phases.entries()) {
    const view = new DataView(bytes.buffer, PHASE_BYTES * i, PHASE_BYTES)
    encode(phase, linears, faultOf(parts[i]!.covers.at(-1)!), view)
    if (phase.kind === 'linear') linears++
  }
  const heads = Math.max(...phases.map((phase) => phase.heads))
  const meeting = products.zeros(MEETING_BYTES + HEAD_BYTES * heads, 'phases')
  const slots =
    SLOTS.find((count) => STATIC_BYTES + SPACE_BYTES + count * SLOT_BYTES <= size.sharedBytes) ?? SLOTS.at(-1)!
  const kernel = `phases${phases.every(({ rows }) => rows === 1) ? 1 : FEW_ROWS}`
  const args = [table('phases', bytes), phases.length, linears, meeting, meeting + BigInt(MEETING_BYTES), slots]
  const options = { threads: THREADS, sharedBytes: SPACE_BYTES + slots * SLOT_BYTES, isTogether: true }
  launcher.launch(kernel, [size.multiprocessors, 1], args, options)
}
