/** A round every so many blocks; height 0 is in round 0. */
export const BLOCKS_PER_ROUND = 360

export const fleetRoundOfHeight = (height: number, blocksPerRound = BLOCKS_PER_ROUND): number =>
  Math.floor(height / blocksPerRound)
