import { equalBytes } from '../../bytes/bytes.ts'
import { toHex } from '../../bytes/hex.ts'
import { hiddenLink } from '../stateChain.ts'

/** What one replica said: a commitment while others still worked, and what it hid once all were in. */
export interface ReplicaAnswer {
  readonly key: Uint8Array
  readonly commitment: Uint8Array
  /** Null where it was never opened. */
  readonly opened: { readonly salt: Uint8Array; readonly link: Uint8Array } | null
}

export interface ReplicaVerdict {
  /** All who opened agree; they differ, and a dispute decides; or fewer than two opened. */
  readonly outcome: 'agree' | 'differ' | 'too few'
  /** Replicas by what they opened, the larger class first. */
  readonly classes: readonly { readonly link: Uint8Array; readonly keys: readonly Uint8Array[] }[]
  /** Opened to something else than they had committed to, or not at all. */
  readonly dishonest: readonly Uint8Array[]
}

/** W5.3. Compares 32 bytes. Nobody can copy: a commitment is bound to its key, and opens under no other. */
export function compareReplicas(answers: readonly ReplicaAnswer[]): ReplicaVerdict {
  const isHonest = ({ key, commitment, opened }: ReplicaAnswer) =>
    opened !== null && equalBytes(hiddenLink(key, opened.salt, opened.link), commitment)
  const classes = new Map<string, { link: Uint8Array; keys: Uint8Array[] }>()
  for (const { key, opened } of answers.filter(isHonest)) {
    const name = toHex(opened!.link)
    const known = classes.get(name) ?? { link: opened!.link, keys: [] }
    // A key counts once, however often it answers.
    if (!known.keys.some((other) => equalBytes(other, key))) known.keys.push(key)
    classes.set(name, known)
  }
  const bySize = [...classes.values()].sort((a, b) => b.keys.length - a.keys.length)
  const opened = bySize.reduce((sum, { keys }) => sum + keys.length, 0)
  return {
    outcome: opened < 2 ? 'too few' : bySize.length === 1 ? 'agree' : 'differ',
    classes: bySize,
    dishonest: answers.filter((answer) => !isHonest(answer)).map(({ key }) => key),
  }
}
