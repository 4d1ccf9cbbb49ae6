/** Height of the latest final block of the chain that sets the rhythm of fleet rounds. */
export interface BlockHeight {
  height(signal: AbortSignal): Promise<number>
}
