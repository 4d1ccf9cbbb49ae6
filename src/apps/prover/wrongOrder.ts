import { fault } from '../shared/faults.ts'

/** The validator asked for something out of turn: the prover says so and ends. */
export const wrongOrder = (what: string) => fault('WRONG_ORDER', { what })
