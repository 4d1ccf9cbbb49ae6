import type { CheckedRow } from '../../core/chain/envelopes.ts'

/** Blocks that came, with what is known of them. */
export interface Row {
  readonly blocks: readonly Uint8Array[]
  readonly checked: CheckedRow
}

export const UNCHECKED: CheckedRow = { right: 0, drawn: [] }

/** Shorter answers are checked where they are taken. */
const WORTH_A_THREAD = 8
/** What may lie here before it is taken, fetched and checked in advance. */
const MOST_BLOCKS_AHEAD = 512
const MOST_BYTES_AHEAD = 8 << 20
/** What is taken at once: a write to disk costs the same for many small blocks as for one. */
const MOST_BLOCKS_AT_ONCE = 256
const MOST_BYTES_AT_ONCE = 1 << 20

/** How blocks are had from a peer and looked at. */
interface Source {
  /** The blocks from a height on, as many as fit an answer; null or none where the peer has no more. */
  ask(from: number): Promise<readonly Uint8Array[] | null>
  check(blocks: readonly Uint8Array[]): Promise<CheckedRow>
}

/**
 * The blocks of a peer from a height on. Three things go on at once: an answer is on its way, those before it are being
 * checked, and what was checked is being taken. Answers that wait are taken together.
 */
export async function* readRows(source: Source, first: number): AsyncGenerator<Row> {
  const waiting: Waiting[] = []
  let [from, taken, isOver] = [first, first, false]
  let wake = () => {}
  const isFull = () => from - taken >= MOST_BLOCKS_AHEAD || total(waiting) >= MOST_BYTES_AHEAD
  const fetchAhead = async () => {
    while (!isOver && !isFull()) {
      const blocks = (await source.ask(from)) ?? []
      from += blocks.length
      if (blocks.length === 0) isOver = true
      else waiting.push(waitingFor(blocks, blocks.length < WORTH_A_THREAD ? null : source.check(blocks)))
      wake()
    }
  }
  let fetching = Promise.resolve()
  const fetchOn = () => {
    fetching = fetching.then(fetchAhead)
    // Its fault is met where somebody waits for blocks.
    fetching.catch(() => {})
  }
  fetchOn()
  try {
    for (;;) {
      while (waiting.length === 0 && !isOver) {
        const news = new Promise<void>((resolve) => {
          wake = resolve
        })
        await Promise.race([news, fetching])
      }
      if (waiting.length === 0) return
      await waiting[0]!.isChecked
      const row = whatIsThere(waiting)
      taken += row.blocks.length
      fetchOn()
      yield row
    }
  } finally {
    isOver = true
  }
}

/** An answer that was not taken yet. */
interface Waiting {
  readonly blocks: readonly Uint8Array[]
  readonly bytes: number
  readonly isChecked: Promise<void>
  /** Null while it is being checked. */
  checked: CheckedRow | null
}

function waitingFor(blocks: readonly Uint8Array[], check: Promise<CheckedRow> | null): Waiting {
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0)
  if (check === null) return { blocks, bytes, isChecked: Promise.resolve(), checked: UNCHECKED }
  const isChecked = check.then((checked) => {
    waiting.checked = checked
  })
  const waiting: Waiting = { blocks, bytes, isChecked, checked: null }
  return waiting
}

const total = (waiting: readonly Waiting[]): number => waiting.reduce((sum, { bytes }) => sum + bytes, 0)

/** The first answer, and those after it that are checked already, up to one that is not right to its end. */
function whatIsThere(waiting: Waiting[]): Row {
  const blocks: Uint8Array[] = []
  const drawn: CheckedRow['drawn'][number][] = []
  let [bytes, right] = [0, 0]
  do {
    const each = waiting.shift()!
    right = blocks.length + each.checked!.right
    blocks.push(...each.blocks)
    drawn.push(...each.checked!.drawn)
    bytes += each.bytes
  } while (
    right === blocks.length &&
    waiting.length > 0 &&
    waiting[0]!.checked !== null &&
    blocks.length + waiting[0]!.blocks.length <= MOST_BLOCKS_AT_ONCE &&
    bytes + waiting[0]!.bytes <= MOST_BYTES_AT_ONCE
  )
  return { blocks, checked: { right, drawn } }
}
