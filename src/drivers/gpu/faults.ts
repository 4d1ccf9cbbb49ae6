import { faultsOf } from '../../ports/errors.ts'

/** Every fault of choosing devices; each back end has a table of its own. */
export const fault = faultsOf({
  UNKNOWN_DEVICE: {
    blame: 'user',
    message: 'there is no kind of device called {name}',
    nextStep: 'Use {kinds}.',
  },
})
