import type { Answer, HostOrder } from '../../core/wire/messages.ts'
import type { HostLanes } from '../../ports/hostLanes.ts'
import { fault } from '../shared/faults.ts'
import { faultAnswer } from './deviceFault.ts'

/** A validator waits for each answer, so it never has more under way. */
const MAX_WAITING = 4

/** §12: host orders are carried out one after the other, beside the cards' work. What fails here is said and ends nothing. */
export function hostOrders(
  host: HostLanes | null,
  send: (answer: Answer) => Promise<void>,
  signal: AbortSignal,
): (order: HostOrder) => void {
  let turn: Promise<void> = Promise.resolve()
  let waiting = 0
  const carryOut = async (order: HostOrder): Promise<void> => {
    if (host === null) throw fault('HOST_NOT_OFFERED')
    if (order.type === 'store') await send({ type: 'stored', ...(await host.store(order, signal)) })
    else if (order.type === 'walk') await host.walk(order)
    else await send({ type: 'walked', lanes: await host.halt() })
  }
  return (order) => {
    if (waiting >= MAX_WAITING) return
    waiting++
    turn = turn
      .then(() => carryOut(order))
      .catch((error: unknown) => (signal.aborted ? undefined : send(faultAnswer(error, 'unable'))))
      .catch(() => {})
      .finally(() => void waiting--)
  }
}
