import type { Answer, HostOrder } from '../../core/wire/messages.ts'
import type { HostLanes } from '../../ports/hostLanes.ts'
import { fault } from '../shared/faults.ts'
import { faultAnswer } from './faultAnswer.ts'

/** §12: host orders are carried out one after the other, beside the cards' work. What fails here is said and ends nothing. */
export class HostOrders {
  readonly #host: HostLanes | null
  readonly #send: (answer: Answer) => Promise<void>
  readonly #signal: AbortSignal
  #turn: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(host: HostLanes | null, send: (answer: Answer) => Promise<void>, signal: AbortSignal) {
    this.#host = host
    this.#send = send
    this.#signal = signal
  }

  obey(order: HostOrder): void {
    if (this.#waiting >= MAX_WAITING) return
    this.#waiting++
    this.#turn = this.#turn
      .then(() => this.#carryOut(order))
      .catch((error: unknown) => (this.#signal.aborted ? undefined : this.#send(faultAnswer(error, 'unable'))))
      .catch(() => {})
      .finally(() => void this.#waiting--)
  }

  async #carryOut(order: HostOrder): Promise<void> {
    if (this.#host === null) throw fault('HOST_NOT_OFFERED')
    if (order.type === 'store') await this.#send({ type: 'stored', ...(await this.#host.store(order, this.#signal)) })
    else if (order.type === 'walk') await this.#host.walk(order)
    else await this.#send({ type: 'walked', lanes: await this.#host.halt() })
  }
}

/** A validator waits for each answer, so it never has more under way. */
const MAX_WAITING = 4
