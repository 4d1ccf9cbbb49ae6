import { reader } from '../parseOptions.ts'

/** Where a node of this machine answers unless it says otherwise. */
export const USUAL_API = { host: '127.0.0.1', port: 8788 }

const readNodeUrl = reader('Use an address such as http://127.0.0.1:8788.', (text) =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : null,
)

/** Which node a command asks. */
export const NODE_OPTION = [
  '--node <url>',
  'the node to ask',
  readNodeUrl,
  `http://${USUAL_API.host}:${USUAL_API.port}`,
] as const
