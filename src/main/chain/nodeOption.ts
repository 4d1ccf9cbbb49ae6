import { reader } from '../parseOptions.ts'

/** Where a node of this machine answers unless it says otherwise. */
export const USUAL_API = { host: '127.0.0.1', port: 8788 }

/** Where a node keeps, in its folder, which chain it follows. */
export const GENESIS_FILE = 'genesis.json'

/** An account of a devnet, whose key everybody has. */
export const DEVNET_ACCOUNT = /^devnet:(\d{1,4})$/

const readNodeUrl = reader('Use an address such as http://127.0.0.1:8788.', (text) =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : null,
)

export const readChain = reader('Use the 64 hex digits that "touchstone chain head" shows.', (text) =>
  /^[0-9a-f]{64}$/.test(text) ? text : null,
)

/** For which chain a command may sign. */
export const CHAIN_OPTION = [
  '--chain <hash>',
  'sign for no other chain than this, as "chain head" of a node of yours shows it',
  readChain,
] as const

/** Which node a command asks. */
export const NODE_OPTION = [
  '--node <url>',
  'the node to ask',
  readNodeUrl,
  `http://${USUAL_API.host}:${USUAL_API.port}`,
] as const
