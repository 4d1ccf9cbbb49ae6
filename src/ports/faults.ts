import { type FaultRow, faultsOf } from './errors.ts'

const OUT_OF_TURN = 'Call the device in the order that its port describes.'

/** Faults that every device has, and those by which a box or a card says that somebody else holds it. */
export const portFault = faultsOf({
  BOX_BUSY: {
    blame: 'prover',
    retry: true,
    fleet: 'busy',
    message: 'the box is {taken}',
    nextStep:
      'Try again when the lease has ended; until then "touchstone validator alive ADDRESS" shows that it is up.',
  },
  DEVICE_BUSY: { blame: 'prover', fleet: 'busy', message: '{what}', nextStep: OUT_OF_TURN },
  DEVICE_CLOSED: { blame: 'prover', message: '{device} is closed', nextStep: OUT_OF_TURN },
  GPU_BUSY: { blame: 'prover', retry: true, fleet: 'busy', message: '{what}', nextStep: '{mend}' },
  NO_FILL: { blame: 'prover', message: 'there is no fill to pass over', nextStep: OUT_OF_TURN },
  NOTHING_TO_OPEN: { blame: 'prover', message: 'no {run} held for openings', nextStep: OUT_OF_TURN },
  SIZE_REFUSED: {
    blame: 'validator',
    message: 'the device refuses {what} = {got}: expected {expected}',
    nextStep: 'Ask for sizes that the protocol allows (§4.0).',
  },
})

/** Whether a code, from whoever says it, means that somebody else holds the box or the card. */
export const meansBusy = (code: string): boolean =>
  Object.entries<FaultRow>(portFault.rows).some(([name, { fleet }]) => name === code && fleet === 'busy')
