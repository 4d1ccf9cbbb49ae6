/** Numbers the NVIDIA driver writes into the kernel log when something goes wrong on a card, and what they mean. */
const XIDS: Readonly<Record<number, string>> = {
  13: 'a program made the compute engine fail',
  31: 'a program touched memory that is not its own',
  43: 'a program was stopped after its own error',
  48: 'memory error that could not be corrected',
  63: 'bad memory was taken out of use',
  64: 'bad memory could not be taken out of use',
  74: 'NVLink error',
  79: 'the card fell off the bus',
  94: 'memory error, contained to one program',
  95: 'memory error, not contained',
  119: "the card's own firmware stopped answering",
}

export const xidText = (xid: number): string => (XIDS[xid] === undefined ? `Xid ${xid}` : `Xid ${xid} (${XIDS[xid]})`)
