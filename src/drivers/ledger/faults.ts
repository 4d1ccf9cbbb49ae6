import { faultsOf } from '../../ports/errors.ts'

/** Every fault of this folder. */
export const fault = faultsOf({
  LEDGER_FILE_UNREADABLE: {
    blame: 'user',
    message: '{path} is not a round that this validator signed ({why})',
    nextStep: 'Restore the file from a backup, or move it away: it is then written again.',
  },
  LEDGER_UNREACHABLE: {
    blame: 'network',
    retry: true,
    message: 'the node at {url} does not answer as a node should: {why}',
    nextStep:
      'Check its address (--rpc, or ledger in validator.yaml) and the node itself; a validator keeps its round and tries again.',
  },
  LEDGER_REFUSED: {
    blame: 'network',
    retry: true,
    message: 'the node at {url} refuses: {why}',
    nextStep: 'Read the reason; a validator keeps its round and tries again.',
  },
  LEDGER_WRONG_CHAIN: {
    blame: 'user',
    retry: true,
    message: 'the node at {url} serves chain {got}, not {expected}',
    nextStep:
      'Correct the address or the chain (--rpc and --chain-id, or ledger in validator.yaml); a validator keeps its round.',
  },
  LEDGER_NO_CONTRACT: {
    blame: 'user',
    retry: true,
    message: 'there is no contract of ours at {contract} on chain {chainId}',
    nextStep: 'Publish it with "touchstone ledger deploy", and name its address under ledger in validator.yaml.',
  },
  LEDGER_DISAGREES: {
    blame: 'network',
    retry: true,
    message: 'the nodes named under ledger say different things about round {round}',
    nextStep: 'One of them lies or lags behind. Find out which, and leave it out; the round is kept.',
  },
  LEDGER_TOO_DEAR: {
    blame: 'network',
    retry: true,
    message: 'a unit of gas costs {gwei} gwei, and ledger.maxFeeGwei is {most}',
    nextStep: 'Wait, or raise ledger.maxFeeGwei (--max-fee); a validator keeps its round and tries again.',
  },
  LEDGER_NO_FUNDS: {
    blame: 'user',
    retry: true,
    message: 'account {address} holds too little for the gas',
    nextStep: 'Send it funds; a validator keeps its round and tries again.',
  },
  LEDGER_KEY_EXPOSED: {
    blame: 'user',
    message: 'others on this machine can read the key in {path}',
    nextStep: 'Run "chmod 600" on it; if they may have copied it, move its funds and publish from another account.',
  },
  LEDGER_BAD_KEY: {
    blame: 'user',
    message: '{path} cannot be read, or does not hold the key of an EVM account',
    nextStep:
      'Make one with "touchstone wallet new --kind evm", or write 64 hex digits into a file that only you can read.',
  },
})
