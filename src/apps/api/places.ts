/** Why there is no place: all are taken, or the asker has as many as one may. */
export type NoPlace = 'full' | 'enough'

/** How many are served at once, in all and for one asker. `enter` returns what gives the place back, or why there is none. */
export function places({ most, each }: { readonly most: number; readonly each: number }) {
  const held = new Map<string, number>()
  let all = 0
  return (client: string): (() => void) | NoPlace => {
    const own = held.get(client) ?? 0
    if (own >= each) return 'enough'
    if (all >= most) return 'full'
    all++
    held.set(client, own + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      all--
      const others = held.get(client)! - 1
      if (others > 0) held.set(client, others)
      else held.delete(client)
    }
  }
}
