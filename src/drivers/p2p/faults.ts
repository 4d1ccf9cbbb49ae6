import { faultsOf } from '../../ports/errors.ts'

/** Every fault of this folder. */
export const fault = faultsOf({
  BAD_PEER_ADDRESS: {
    blame: 'user',
    message: '{text} is not the address of a node',
    nextStep: 'Write it as host:port, or as the node itself shows it: /ip4/203.0.113.7/tcp/4040/p2p/…',
  },
  NODE_NOT_LISTENING: {
    blame: 'user',
    message: 'cannot listen on {host}:{port}: {why}',
    nextStep: 'Name an address of this machine with --host.',
  },
  NODE_PORT_IN_USE: {
    blame: 'user',
    message: 'another program listens on {host}:{port}',
    nextStep: 'Stop it, or give this node another port with --port; --port 0 takes any that is free.',
  },
  NO_GENESIS_FROM_PEER: {
    blame: 'network',
    retry: true,
    message: 'no node at {address} told which chain it follows: {why}',
    nextStep: 'Check the address and that the node runs, or name the file of the chain with --genesis.',
  },
})
