import { fromHex, toHex } from '../../core/bytes/hex.ts'
import type { ChainStore, ChainWrite, Mark, StoredBlock } from '../../ports/chainStore.ts'
import type { Change, KeyValues } from './keyValues.ts'

/** Of the layout below. */
const FORMAT = 1

/** What is wrong with what lies in a database; drivers say where it lies. */
export type Finding =
  | { readonly kind: 'another'; readonly held: string }
  | { readonly kind: 'newer'; readonly found: number; readonly known: number }
  | { readonly kind: 'damaged'; readonly why: string }

/** Thrown where a database does not hold what it must. */
export class FindingError extends Error {
  readonly finding: Finding
  constructor(finding: Finding) {
    super(JSON.stringify(finding))
    this.finding = finding
  }
}

const damaged = (why: string) => new FindingError({ kind: 'damaged', why })

// Facts, bytes and states by hash; hashes by height: of the head's branch, of all, and of those with a state, apart from
// the states themselves, since a database reads what lies beside the keys it walks over.
const MARKS = 'marks'
const factsKey = (id: string) => `facts/${id}`
const bytesKey = (id: string) => `block/${id}`
const branchKey = (height: number) => `branch/${tenDigits(height)}`
const placeKey = (height: number, id = '') => `place/${tenDigits(height)}/${id}`
const stateKey = (id: string) => `state/${id}`
const noteKey = (name: string) => `note/${name}`
const heldKey = (height: number, id = '') => `held/${tenDigits(height)}/${id}`
const tenDigits = (height: number) => String(height).padStart(10, '0')
const lastPart = (key: string) => key.slice(key.lastIndexOf('/') + 1)
const heightIn = (key: string) => Number(key.split('/')[1])

const NOTHING = new Uint8Array(0)
const text = (value: string) => new TextEncoder().encode(value)
const read = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

interface Marks {
  readonly format: number
  readonly genesis: string
  readonly head: Mark
  readonly final: Mark
}

/** A chain on a database. Everything that a step changes is one write. */
export async function chainStoreFrom(values: KeyValues, genesis: string): Promise<ChainStore> {
  let marks = (await readMarks(values, genesis)) ?? (await begin(values, genesis))
  await checkBranch(values, marks)
  return {
    get head() {
      return marks.head
    },
    get final() {
      return marks.final
    },
    write: async (write) => {
      const { changes, next } = await plan(values, marks, write)
      await values.write(changes)
      marks = next
    },
    adopt: async ({ facts, bytes, state }) => {
      if (marks.head.height > 0) throw new RangeError('the chain has begun already')
      const mark = { id: facts.id, height: facts.height }
      const next = { ...marks, head: mark, final: mark }
      await values.write([
        ...[...blockChanges(facts, bytes), ...stateChanges(facts, state)],
        [branchKey(facts.height), fromHex(facts.id, 32)!],
        [MARKS, text(JSON.stringify(next))],
      ])
      marks = next
    },
    forgetBelow: async (height) => {
      if (height > marks.final.height) throw new RangeError('blocks above the last final one stay')
      const places = await values.keys(placeKey(1), placeKey(height))
      const gone = places.flatMap((key): Change[] =>
        [key, factsKey(lastPart(key)), bytesKey(lastPart(key)), branchKey(heightIn(key))].map((each) => [each, null]),
      )
      if (gone.length > 0) await values.write(gone)
    },
    block: (id) => values.get(bytesKey(id)),
    facts: (id) => readFacts(values, id),
    idAt: async (height) => {
      const id = await values.get(branchKey(height))
      return id === null ? null : toHex(id)
    },
    above: async (height) => {
      const keys = await values.keys(placeKey(height + 1), 'place/~')
      return await Promise.all(keys.map(async (key) => (await readFacts(values, lastPart(key))) ?? lost(key)))
    },
    state: (id) => values.get(stateKey(id)),
    withState: async () => {
      const keys = await values.keys('held/', 'held/~')
      return keys.map((key) => ({ id: lastPart(key), height: heightIn(key) }))
    },
    note: (name) => values.get(noteKey(name)),
    close: () => values.close(),
  }
}

const lost = (key: string): never => {
  throw damaged(`${key} leads nowhere`)
}

async function readMarks(values: KeyValues, genesis: string): Promise<Marks | null> {
  const bytes = await values.get(MARKS)
  if (bytes === null) {
    // The marks are written with the first of everything else.
    if ((await values.keys('', '~')).length > 0) throw damaged('its marks are gone')
    return null
  }
  const marks: Marks = JSON.parse(read(bytes))
  if (marks.format !== FORMAT) throw new FindingError({ kind: 'newer', found: marks.format, known: FORMAT })
  if (marks.genesis !== genesis) throw new FindingError({ kind: 'another', held: marks.genesis })
  return marks
}

async function begin(values: KeyValues, genesis: string): Promise<Marks> {
  const mark = { id: genesis, height: 0 }
  const marks = { format: FORMAT, genesis, head: mark, final: mark }
  const facts: StoredBlock = { id: genesis, parent: '', height: 0, slot: 0, author: '', win: null }
  await values.write([
    [MARKS, text(JSON.stringify(marks))],
    [factsKey(genesis), encodeFacts(facts)],
    [branchKey(0), fromHex(genesis, 32)!],
  ])
  return marks
}

/** From the head to the last final block everything is there: a database that lost a write in the middle shows it here. */
async function checkBranch(values: KeyValues, { genesis, head, final }: Marks): Promise<void> {
  let id = head.id
  for (let height = head.height; height >= final.height; height--) {
    const facts = await readFacts(values, id)
    const named = await values.get(branchKey(height))
    if (facts === null || facts.height !== height || named === null || toHex(named) !== id)
      throw damaged(`block ${height} of its branch is gone`)
    if (id !== genesis && (await values.get(bytesKey(id))) === null) throw damaged(`the bytes of ${id} are gone`)
    if (height === final.height && id !== final.id) throw damaged('its head does not go through its last final block')
    id = facts.parent
  }
}

const blockChanges = (facts: StoredBlock, bytes: Uint8Array): Change[] => [
  [factsKey(facts.id), encodeFacts(facts)],
  [bytesKey(facts.id), bytes],
  [placeKey(facts.height, facts.id), NOTHING],
]

const stateChanges = ({ id, height }: StoredBlock, bytes: Uint8Array): Change[] => [
  [heldKey(height, id), NOTHING],
  [stateKey(id), bytes],
]

async function plan(values: KeyValues, marks: Marks, write: ChainWrite) {
  const coming = new Map(write.blocks.map(({ facts }) => [facts.id, facts]))
  const factsOf = async (id: string) => {
    const facts = coming.get(id) ?? (await readFacts(values, id))
    if (facts === null) throw new RangeError(`${id} is not in the store`)
    return facts
  }
  const changes: Change[] = []
  for (const { facts, bytes } of write.blocks) {
    if ((await factsOf(facts.parent)).height !== facts.height - 1) throw new RangeError('a height does not fit')
    changes.push(...blockChanges(facts, bytes))
  }
  for (const { id, bytes } of write.states) changes.push(...stateChanges(await factsOf(id), bytes))
  const [head, final] = [await factsOf(write.head), await factsOf(write.final)]
  const moved = await moveBranch(values, marks, head, factsOf)
  changes.push(...moved, ...(await dropStates(values, final, moved)))
  for (const [name, bytes] of Object.entries(write.notes ?? {})) changes.push([noteKey(name), bytes])
  const mark = ({ id, height }: StoredBlock): Mark => ({ id, height })
  const next: Marks = { ...marks, head: mark(head), final: mark(final) }
  changes.push([MARKS, text(JSON.stringify(next))])
  return { changes, next }
}

/** The names by height, from the fork of the old head and the new one on. */
async function moveBranch(
  values: KeyValues,
  { head: old }: Marks,
  head: StoredBlock,
  factsOf: (id: string) => Promise<StoredBlock>,
): Promise<Change[]> {
  const changes: Change[] = []
  for (let height = head.height + 1; height <= old.height; height++) changes.push([branchKey(height), null])
  for (let at = head; ; at = await factsOf(at.parent)) {
    const named = at.height > old.height ? null : await values.get(branchKey(at.height))
    if (named !== null && toHex(named) === at.id) return changes
    changes.push([branchKey(at.height), fromHex(at.id, 32)!])
  }
}

/** States that others may start from: the last few at round heights, so that people have time to name one. */
const KEPT_EVERY = 1_000
const MOST_KEPT = 4
const isForOthers = (height: number, newest: number) =>
  height % KEPT_EVERY === 0 && height > newest - MOST_KEPT * KEPT_EVERY

/** Every branch that still counts starts from the newest state up to the final block: of the older ones few stay. */
async function dropStates(values: KeyValues, final: StoredBlock, moved: readonly Change[]): Promise<Change[]> {
  const keys = await values.keys('held/', heldKey(final.height + 1))
  if (keys.length < 2) return []
  // The final block is on the branch of the head, as it will be after this write.
  const coming = new Map(moved)
  const isOnBranch = async (key: string) => {
    const name = branchKey(heightIn(key))
    const id = coming.has(name) ? coming.get(name)! : await values.get(name)
    return id !== null && toHex(id) === lastPart(key)
  }
  for (const newest of keys.toReversed()) {
    if (!(await isOnBranch(newest))) continue
    const height = heightIn(newest)
    const isOld = (key: string) => key !== newest && heightIn(key) <= height
    const others = keys.filter((key) => isOld(key) && !isForOthers(heightIn(key), height))
    return others.flatMap((key): Change[] => [
      [key, null],
      [stateKey(lastPart(key)), null],
    ])
  }
  return []
}

interface FactsText extends Omit<StoredBlock, 'win'> {
  readonly win: { readonly arrival: string; readonly randomness: string } | null
}

function encodeFacts({ id, parent, height, slot, author, win }: StoredBlock): Uint8Array {
  const spelled = win === null ? null : { arrival: win.arrival.toString(), randomness: toHex(win.randomness) }
  const facts: FactsText = { id, parent, height, slot, author, win: spelled }
  return text(JSON.stringify(facts))
}

async function readFacts(values: KeyValues, id: string): Promise<StoredBlock | null> {
  const bytes = await values.get(factsKey(id))
  if (bytes === null) return null
  const { win, ...facts }: FactsText = JSON.parse(read(bytes))
  if (win === null) return { ...facts, win }
  return { ...facts, win: { arrival: BigInt(win.arrival), randomness: fromHex(win.randomness, 32)! } }
}
