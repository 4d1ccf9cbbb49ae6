import { faultsOf } from '../../ports/errors.ts'

/** Every fault of choosing and linking devices; each back end has a table of its own. */
export const fault = faultsOf({
  NO_PEER_FILL: {
    blame: 'prover',
    message: 'the other device of the link has no fill that this one can read',
    nextStep: 'Open all devices of a box with one call, and fill before linking.',
  },
  UNKNOWN_DEVICE: {
    blame: 'user',
    message: 'there is no kind of device called {name}',
    nextStep: 'Use {kinds}.',
  },
})
