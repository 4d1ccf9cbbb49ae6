import type { PartEvidence } from '../../core/proof/verifyPart.ts'

interface SharedDevice {
  readonly device: number
  /** One after the other. */
  readonly roots: Uint8Array
  readonly openings: Uint8Array
}

/** A part of a run as threads are told of it: its bytes lie once in memory, however many threads look at them. */
export type SharedPart = Omit<PartEvidence, 'devices'> & { readonly devices: readonly SharedDevice[] }

/** Attack 167: copied for every thread, root by root, the longest runs of eight boxes take ten gigabytes. */
export const sharePart = ({ devices, ...part }: PartEvidence): SharedPart => ({
  ...part,
  devices: devices.map(({ device, roots, openings }) => ({
    device,
    roots: inSharedMemory(roots),
    openings: inSharedMemory([openings]),
  })),
})

/** The part as it was, but for the times, which no opening depends on. */
export const partOf = ({ devices, ...part }: SharedPart): PartEvidence => ({
  ...part,
  devices: devices.map(({ device, roots, openings }) => ({
    device,
    openings,
    arrivalsUs: [],
    get roots() {
      return rootsIn(roots)
    },
  })),
})

function inSharedMemory(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(new SharedArrayBuffer(pieces.reduce((sum, { length }) => sum + length, 0)))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

const ROOT_BYTES = 32

/** Of the device that was asked for last: a view of each root takes more room than the root. */
let latest: { readonly of: Uint8Array; readonly roots: readonly Uint8Array[] } | null = null

function rootsIn(of: Uint8Array): readonly Uint8Array[] {
  if (latest?.of !== of) {
    const viewOf = (_: unknown, i: number) => of.subarray(ROOT_BYTES * i, ROOT_BYTES * (i + 1))
    latest = { of, roots: Array.from({ length: of.length / ROOT_BYTES }, viewOf) }
  }
  return latest.roots
}
