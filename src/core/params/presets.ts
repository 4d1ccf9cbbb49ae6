export type PresetName = 'tiny' | 'devnet' | 'mainnet' | 'custom'

/** A named set of protocol constants (§4). Only `mainnet` runs are secure and identify a card. */
export interface Preset {
  readonly name: PresetName
  /** False marks every certificate of the preset as insecure. */
  readonly secure: boolean
  readonly openings: number
  /** Wanted length of a rounds or bind part, seconds; 0 takes `fixedRounds` instead. */
  readonly partSeconds: number
  /** Wanted length of the sustained part, seconds; 0 leaves it out. */
  readonly sustainedSeconds: number
  /** Wanted length of the timed passes of a memory part, seconds; 0 takes `fixedPasses`. */
  readonly passSeconds: number
  readonly fixedRounds: number
  readonly fixedPasses: number
  /** Fewest rounds or passes of any part. */
  readonly leastRounds: number
  /** Largest m = n and k of every part, for presets that do not follow the classes of §4.0; 0 follows them. */
  readonly size: number
  /** Bytes of the memory fill for presets that do not fill the card; 0 fills it. */
  readonly fillBytes: number
}

const mainnet: Preset = {
  name: 'mainnet',
  secure: true,
  openings: 128,
  partSeconds: 3,
  sustainedSeconds: 20,
  passSeconds: 3.2,
  fixedRounds: 0,
  fixedPasses: 0,
  leastRounds: 8,
  size: 0,
  fillBytes: 0,
}

/** [insecure] mainnet sizes with weaker options of the user's own: fewer openings or shorter parts prove less. */
const custom: Preset = {
  ...mainnet,
  name: 'custom',
  secure: false,
  openings: 1,
  partSeconds: 0,
  sustainedSeconds: 0,
  passSeconds: 0,
}

/** [insecure, fast] the whole protocol in milliseconds, for tests. */
const tiny: Preset = { ...custom, name: 'tiny', openings: 8, fixedRounds: 4, fixedPasses: 3, leastRounds: 2, size: 64 }

/** [insecure] seconds on any machine, for trying things out. */
const devnet: Preset = {
  ...custom,
  name: 'devnet',
  openings: 32,
  partSeconds: 3,
  fixedPasses: 8,
  size: 8192,
  fillBytes: 64 * 2 ** 20,
}

export const PRESETS: Readonly<Record<PresetName, Preset>> = { tiny, devnet, mainnet, custom }
