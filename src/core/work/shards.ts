import type { ShapedProgram, Step } from './program.ts'

/** A transition in parts: what each shard makes from the state alone, and what is made of all of that. */
export interface ShardedProgram {
  readonly parts: readonly ShapedProgram[]
  readonly join: ShapedProgram
}

/** How many shards a program has; 0 where it is one piece. */
export const shardsIn = ({ steps }: { readonly steps: readonly Step[] }): number =>
  steps.reduce((most, { shard = -1 }) => Math.max(most, shard + 1), 0)

/**
 * W3.8. Cuts a program at its shards. No shard reads what another makes, so each part runs on any device that has the state;
 * what a part hands out is what the rest of the program reads of it.
 */
export function splitShards(program: ShapedProgram): ShardedProgram {
  const at = (wanted: number | undefined): Pick<ShapedProgram, 'steps' | 'shaped'> => {
    const chosen = [...program.steps.entries()].filter(([, { shard }]) => shard === wanted).map(([i]) => i)
    return { steps: chosen.map((i) => program.steps[i]!), shaped: chosen.map((i) => program.shaped[i]!) }
  }
  const rest = at(undefined)
  const wanted = new Set([...rest.steps.flatMap(({ inputs }) => inputs), ...program.after, ...program.statistics])
  const parts = Array.from({ length: shardsIn(program) }, (_, shard): ShapedProgram => {
    const own = at(shard)
    const after = own.steps.flatMap(({ outputs }) => outputs).filter((name) => wanted.has(name))
    return { ...program, ...own, after, statistics: [] }
  })
  const made = parts.flatMap(({ after }) => after.map((name) => [name, program.shapes.get(name)!] as const))
  return { parts, join: { ...program, ...rest, there: new Map([...program.there, ...made]) } }
}
