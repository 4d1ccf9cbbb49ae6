import type { LibraryHandle } from 'koffi'

/** C's types by letter: p is a pointer to our memory, h a handle, device pointer or 64 bits, s text. */
const TYPES = { p: 'void *', h: 'uint64_t', i: 'int', u: 'uint', z: 'size_t', s: 'const char *' } as const

interface Values {
  readonly p: ArrayBufferView | null
  readonly h: bigint
  readonly i: number
  readonly u: number
  readonly z: number
  readonly s: string
}
type Letter = keyof Values

/** Names of calls, each with the letters of its arguments. */
type Signatures = Readonly<Record<string, string>>

export type Arguments<Letters> = Letters extends `${infer First extends Letter}${infer Rest}`
  ? [Values[First], ...Arguments<Rest>]
  : []

/** Arguments behind the first, which is where a call that makes something writes its answer. */
export type After<Args> = Args extends [unknown, ...infer Rest] ? Rest : never

/** A library under NVIDIA's names; every call answers with a status, and 0 is success. */
export type Calls<Of extends Signatures> = { readonly [Name in keyof Of]: (...args: Arguments<Of[Name]>) => number }

/** The calls of a library. One it lacks answers `missing`; without that word it is an error. */
export function bindCalls<Of extends Signatures>(library: LibraryHandle, signatures: Of, missing?: number): Calls<Of> {
  const bind = (name: string, letters: string) => {
    const types = Array.from(letters, (letter) => TYPES[letter as Letter])
    try {
      return library.func(name, 'int', types)
    } catch (error) {
      if (missing === undefined) throw error
      return () => missing
    }
  }
  const bound = Object.entries(signatures).map(([name, letters]) => [name, bind(name, letters)])
  return Object.fromEntries(bound) as Calls<Of>
}

/** A call by its name, where the caller's own types have seen to the arguments. */
export const invoke = <Of extends Signatures>(calls: Calls<Of>, name: keyof Of, ...args: readonly unknown[]): number =>
  (calls[name] as (...args: readonly unknown[]) => number)(...args)
