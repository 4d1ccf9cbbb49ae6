export interface HostField {
  readonly unit: 'bytes' | 'bytes/s' | 'op/s' | 'microseconds' | 'count' | 'text'
  readonly label: string
  /** A figure that our program made there, rather than a fact it read. */
  readonly figure?: true
}

/** Everything the rest of a box is described by; a field not listed here is shown as text. All of it is claimed. */
export const HOST_FIELDS: Readonly<Record<string, HostField>> = {
  platform: { unit: 'text', label: 'operating system' },
  release: { unit: 'text', label: 'kernel' },
  arch: { unit: 'text', label: 'architecture' },
  cpu: { unit: 'text', label: 'processor' },
  cores: { unit: 'count', label: 'logical cores' },
  memoryBytes: { unit: 'bytes', label: 'memory' },
  memoryLimitBytes: { unit: 'bytes', label: 'memory this account may use' },
  diskBytes: { unit: 'bytes', label: 'disk' },
  diskFreeBytes: { unit: 'bytes', label: 'disk, free' },
  gpuSources: { unit: 'text', label: 'sources that list the cards' },
  gpuDisagreements: { unit: 'text', label: 'what these sources disagree about' },
  gpuHidden: { unit: 'count', label: 'cards that are not for us' },
  gpuFaults: { unit: 'text', label: 'cards that could not be opened' },
  gpuLeftOut: { unit: 'text', label: 'cards that were not asked for' },
  gpuAbsent: { unit: 'text', label: 'why there are no cards' },
  cpuWhetstoneMips: { figure: true, unit: 'count', label: 'Whetstone, million instructions a second, one core' },
  cpuWhetstoneMflops: {
    figure: true,
    unit: 'count',
    label: 'Whetstone, million floating operations a second, one core',
  },
  cpuVectorFlops: { figure: true, unit: 'op/s', label: 'vector additions and products, one core' },
  ramBytesPerSec: { figure: true, unit: 'bytes/s', label: 'memory, copying, one core' },
  diskWriteBytesPerSec: { figure: true, unit: 'bytes/s', label: 'disk, sequential writing, synced' },
  diskReadBytesPerSec: { figure: true, unit: 'bytes/s', label: 'disk, sequential reading, past the cache' },
  diskWriteOpsPerSec: { figure: true, unit: 'count', label: 'disk, random 4 KiB writes a second, each synced' },
  diskReadOpsPerSec: { figure: true, unit: 'count', label: 'disk, random 4 KiB reads a second, past the cache' },
}
