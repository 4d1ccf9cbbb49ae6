/** Amounts are whole units; a token is 10^9 of them. */
export const UNITS_PER_TOKEN = 1_000_000_000n

/** Hour, day and week are 1, 24 and 168 epochs in every preset. */
export const DAY = 24n
export const WEEK = 168n

const tokens = (count: bigint) => count * UNITS_PER_TOKEN

/** §3.1. Part of the genesis hash, all u64; the names follow the table there. */
export interface ChainParams {
  readonly slotMs: bigint
  readonly epochSlots: bigint
  readonly leaderNumerator: bigint
  readonly leaderDenominator: bigint
  readonly auditNumerator: bigint
  readonly auditDenominator: bigint
  readonly roundSlots: bigint
  readonly lagSlots: bigint
  readonly keyAgeEpochs: bigint
  readonly exactVoters: bigint
  readonly seats: bigint
  readonly lateEpochs: bigint
  readonly unlockEpochs: bigint
  readonly jailEpochs: bigint
  readonly bond: bigint
  readonly stake: bigint
  readonly validators: bigint
  readonly deposit: bigint
  readonly projectBond: bigint
  readonly bootWeight: bigint
  readonly blockBytes: bigint
  readonly feePerByte: bigint
  readonly issuance: bigint
  readonly yearEpochs: bigint
  readonly issuanceYears: bigint
  /** Per cent of the issuance. */
  readonly blockShare: bigint
  readonly voteShare: bigint
  readonly scoreShare: bigint
  readonly validatorShare: bigint
  readonly taskPrice: bigint
  readonly replicas: bigint
  readonly trustedReplicas: bigint
  readonly mostReplicas: bigint
  readonly taskDraws: bigint
  readonly trustedStreak: bigint
  /** New tasks that one epoch may draw: bounds the work of the epoch's first block. */
  readonly tasksPerEpoch: bigint
  /** 1: the litepaper's rule, where any difference voids the task for all. */
  readonly strictDrilling: bigint
}

const MAINNET: ChainParams = {
  slotMs: 6_000n,
  epochSlots: 600n,
  leaderNumerator: 1n,
  leaderDenominator: 4n,
  auditNumerator: 1n,
  auditDenominator: 8n,
  roundSlots: 10n,
  lagSlots: 2n,
  keyAgeEpochs: 8n,
  exactVoters: 256n,
  seats: 768n,
  lateEpochs: WEEK,
  unlockEpochs: WEEK,
  jailEpochs: WEEK,
  bond: tokens(1_000n),
  stake: tokens(10_000n),
  validators: 64n,
  deposit: tokens(10n),
  projectBond: tokens(10_000n),
  // 10^9 ut a day, in µut.
  bootWeight: 10n ** 15n,
  blockBytes: 1n << 20n,
  feePerByte: 1_000n,
  issuance: tokens(8_000n),
  yearEpochs: 8_766n,
  issuanceYears: 60n,
  blockShare: 60n,
  voteShare: 10n,
  scoreShare: 20n,
  validatorShare: 10n,
  taskPrice: UNITS_PER_TOKEN / 100n,
  replicas: 3n,
  trustedReplicas: 2n,
  mostReplicas: 7n,
  taskDraws: 3n,
  trustedStreak: 10n,
  tasksPerEpoch: 4_096n,
  strictDrilling: 0n,
}

const DEVNET: ChainParams = {
  ...MAINNET,
  slotMs: 1_000n,
  epochSlots: 10n,
  roundSlots: 2n,
  lagSlots: 1n,
  // So little that processors come to count.
  bootWeight: 10n ** 5n,
  tasksPerEpoch: 64n,
}

/** `tiny` is `devnet` on a virtual clock, for runs whose power is made up. */
export const CHAIN_PRESETS = { mainnet: MAINNET, devnet: DEVNET, tiny: { ...DEVNET, bootWeight: 10n ** 9n } } as const

export const epochOf = (slot: bigint, { epochSlots }: ChainParams): bigint => slot / epochSlots
