import type { HttpBindings } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { createNodeApi } from '../../apps/api/node/createNodeApi.ts'
import { fault as systemFault } from '../../drivers/system/faults.ts'
import { listenHttp } from '../../drivers/system/listenHttp.ts'
import type { ChainNode } from '../../ports/chainNode.ts'
import type { Log } from '../../ports/log.ts'
import { USUAL_API } from '../chain/nodeOption.ts'
import { system } from '../system.ts'
import { programName } from '../version.ts'
import { nodeMetrics } from './nodeMetrics.ts'

/** Where to listen; undefined for the usual place, false for nowhere. */
export type ApiPlace = typeof USUAL_API | undefined | false

const REQUESTS_PER_MINUTE = 1_200

/** The HTTP API of a node, on this machine alone unless somebody says otherwise. */
export async function openNodeApi(asked: ApiPlace, node: ChainNode, log: Log) {
  if (asked === false) return { url: null, close: async () => {} }
  const door = asked === undefined ? await listenNear() : await listenHttp(asked, '--api')
  const { host, port } = door.at
  const hooks = { whenSent, clientOf } satisfies Partial<Parameters<typeof createNodeApi>[0]>
  const told = { clock: system.clock, log, program: programName, requestsPerMinute: REQUESTS_PER_MINUTE }
  const metrics = nodeMetrics(node)
  const api = createNodeApi({ node, ...told, ...hooks })
  api.get('/metrics', (c) => c.text(metrics()))
  door.open(api)
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, close: door.close }
}

/** A second node on one machine takes any port that is free, and says which. */
async function listenNear() {
  try {
    return await listenHttp(USUAL_API, '--api')
  } catch (error) {
    if (!systemFault.is(error, 'CANNOT_LISTEN')) throw error
    return await listenHttp({ ...USUAL_API, port: 0 }, '--api')
  }
}

type Hooks = Pick<Parameters<typeof createNodeApi>[0], 'whenSent' | 'clientOf'>

const whenSent: Hooks['whenSent'] = ({ env }, done) => void (env as HttpBindings).outgoing.once('close', done)
const clientOf: Hooks['clientOf'] = (c) => getConnInfo(c).remote.address ?? 'unknown'
