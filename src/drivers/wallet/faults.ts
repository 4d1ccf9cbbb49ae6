import { faultsOf } from '../../ports/errors.ts'

/** Every fault of this folder. */
export const fault = faultsOf({
  WALLET_EXISTS: {
    blame: 'user',
    message: 'there is a wallet {path} already',
    nextStep: 'Choose another name: a wallet is never overwritten.',
  },
  WALLET_MISSING: {
    blame: 'user',
    message: 'there is no wallet {path}',
    nextStep: 'Make one with "touchstone wallet new", or see "touchstone wallet list".',
  },
  WALLET_DAMAGED: {
    blame: 'user',
    message: '{path} is not a wallet, or was changed ({why})',
    nextStep: 'Restore the file from your copy; it was left as it is.',
  },
  WALLET_EXPOSED: {
    blame: 'user',
    message: 'others on this machine can read {path}',
    nextStep: 'Run "chmod 600" on it; if they may have copied it, move what it holds to a new wallet.',
  },
  WRONG_PASSWORD: {
    blame: 'user',
    message: 'this is not the password of {path}',
    nextStep: 'Try again; the file was left as it is. Nobody can open it without the password.',
  },
})
