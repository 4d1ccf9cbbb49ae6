/**
 * What a field of a report is worth. Proven: checked by the validator itself. Inferred: concluded from what was proven.
 * Measured: timed by the validator's clock and checked by it, but something else on the box could have stood in.
 * Claimed: said by the box, or by our program there, which whoever owns the box could have changed.
 */
export type Mark = 'proven' | 'inferred' | 'measured' | 'claimed'

export interface HostField {
  readonly mark: Mark
  readonly unit: 'bytes' | 'bytes/s' | 'op/s' | 'microseconds' | 'count' | 'text'
  readonly label: string
  /** A figure that our program made there, rather than a fact it read. */
  readonly figure?: true
}

/** Everything the rest of a box is described by; a field not listed here is shown as claimed text. */
export const HOST_FIELDS: Readonly<Record<string, HostField>> = {
  platform: { mark: 'claimed', unit: 'text', label: 'operating system' },
  release: { mark: 'claimed', unit: 'text', label: 'kernel' },
  arch: { mark: 'claimed', unit: 'text', label: 'architecture' },
  cpu: { mark: 'claimed', unit: 'text', label: 'processor' },
  cores: { mark: 'claimed', unit: 'count', label: 'logical cores' },
  memoryBytes: { mark: 'claimed', unit: 'bytes', label: 'memory' },
  memoryLimitBytes: { mark: 'claimed', unit: 'bytes', label: 'memory this account may use' },
  diskBytes: { mark: 'claimed', unit: 'bytes', label: 'disk' },
  diskFreeBytes: { mark: 'claimed', unit: 'bytes', label: 'disk, free' },
  gpuSources: { mark: 'claimed', unit: 'text', label: 'sources that list the cards' },
  gpuDisagreements: { mark: 'claimed', unit: 'text', label: 'what these sources disagree about' },
  gpuHidden: { mark: 'claimed', unit: 'count', label: 'cards that are not for us' },
  gpuFaults: { mark: 'claimed', unit: 'text', label: 'cards that could not be opened' },
  cpuWhetstoneMips: {
    mark: 'claimed',
    figure: true,
    unit: 'count',
    label: 'Whetstone, million instructions a second, one core',
  },
  cpuWhetstoneMflops: {
    mark: 'claimed',
    figure: true,
    unit: 'count',
    label: 'Whetstone, million floating operations a second, one core',
  },
  cpuVectorFlops: { mark: 'claimed', figure: true, unit: 'op/s', label: 'vector additions and products, one core' },
  ramBytesPerSec: { mark: 'claimed', figure: true, unit: 'bytes/s', label: 'memory, copying, one core' },
  diskWriteBytesPerSec: { mark: 'claimed', figure: true, unit: 'bytes/s', label: 'disk, sequential writing, synced' },
  diskReadBytesPerSec: {
    mark: 'claimed',
    figure: true,
    unit: 'bytes/s',
    label: 'disk, sequential reading, past the cache',
  },
  diskWriteOpsPerSec: {
    mark: 'claimed',
    figure: true,
    unit: 'count',
    label: 'disk, random 4 KiB writes a second, each synced',
  },
  diskReadOpsPerSec: {
    mark: 'claimed',
    figure: true,
    unit: 'count',
    label: 'disk, random 4 KiB reads a second, past the cache',
  },
}

export const markOf = (name: string): Mark => (Object.hasOwn(HOST_FIELDS, name) ? HOST_FIELDS[name]!.mark : 'claimed')
