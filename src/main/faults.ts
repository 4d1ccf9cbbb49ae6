import { faultsOf } from '../ports/errors.ts'

const DIAL_OUT = 'Check that "touchstone provider --dial-out" runs there and names this validator and its key.'

/** Every fault of the commands. */
export const fault = faultsOf({
  ADDRESS_TWICE: {
    blame: 'user',
    message: 'boxes {one} and {other} of validator.yaml have one address: they are one box',
    nextStep: 'Leave one of them out.',
  },
  ANOTHER_GENESIS: {
    blame: 'user',
    message: 'the folder {folder} belongs to the chain {held}, and the file named is that of {named}',
    nextStep: 'Leave --genesis out to go on with the chain of the folder, or name another folder with --data.',
  },
  BAD_ADDRESS: {
    blame: 'user',
    message: '{text} is not the address of a provider',
    nextStep: 'Write it as lease://host:port#key, with the key that "touchstone provider" shows.',
  },
  BAD_CONFIG: {
    blame: 'user',
    message: '{place}: {problem}',
    nextStep: 'Correct the field; examples/validator.yaml shows every one.',
  },
  BAD_GENESIS: {
    blame: 'user',
    message: 'no chain can begin from {path}: {why}',
    nextStep: 'Use a file "genesis.json" as another node keeps it in its folder, or leave --genesis out for a devnet.',
  },
  BAD_COLLATERAL: {
    blame: 'user',
    message: "{file} does not hold Intel's statements: {problem}",
    nextStep:
      'Use JSON with tcb_info, qe_identity, pck_crl and root_ca_crl, as strings (docs/spec/attestation.md, A9.4).',
  },
  BAD_POLICY: {
    blame: 'user',
    message: '{file} is not a policy: {problem}',
    nextStep: 'Correct the field; docs/spec/attestation.md shows every one.',
  },
  BAD_WALLET_NAME: {
    blame: 'user',
    message: '{name} is not the name of a wallet',
    nextStep: 'Use up to 32 small letters, digits and "-".',
  },
  BAD_WORK_INPUT: {
    blame: 'user',
    message: 'this cannot be worked on: {why}',
    nextStep: 'Mend the input; "touchstone work run --help" says what each kind takes.',
  },
  BAD_REQUIREMENTS: {
    blame: 'user',
    message: '{path} does not hold requirements',
    nextStep: 'Use JSON with some of {fields}.',
  },
  CALLED_LOCAL: {
    blame: 'user',
    message: 'whether local is this machine, or a box of that name, cannot be told',
    nextStep: 'Name no box for this machine; write ssh://local for a box that is called so.',
  },
  CHAIN_STOOD_STILL: {
    blame: 'user',
    message:
      'the last block of this chain is {minutes} minutes old; nobody may build on one that is more than {epochs} epochs behind',
    nextStep: 'Name a node that went on with it with --bootstrap, or begin a new devnet with another --data folder.',
  },
  CONFIG_UNREADABLE: {
    blame: 'user',
    message: '{path} cannot be read',
    nextStep: 'Name the file with --config; examples/validator.yaml is one to start from.',
  },
  FLEET_PASSWORD: {
    blame: 'user',
    message: 'TOUCHSTONE_SSH_PASSWORD would be offered to every box of the fleet',
    nextStep: 'Unset it, and log in with a key: identity in validator.yaml, an agent, or the keys in ~/.ssh.',
  },
  NOT_PROVABLE: {
    blame: 'user',
    message: 'steps of this work cannot be proven by sumcheck: {why} [{code}]',
    nextStep:
      'Take two or more sequences and heads without --shards, at most 8,192 tokens a step in all, and --products shared; where it is too big, fewer layers, a smaller width or shorter sequences; or use --method openings. Nothing was done.',
  },
  WORK_REFUSED: {
    blame: 'user',
    message: 'the work is refused: {why} [{code}]',
    nextStep: '{nextStep} Nothing was written.',
  },
  INTERRUPTED: {
    blame: 'user',
    retry: true,
    message: 'interrupted; nothing is left running',
    nextStep: 'Run it again.',
  },
  MAY_NOT_JOIN: {
    blame: 'user',
    message: 'this box would not be accepted: {reasons}',
    nextStep: 'Fix what is named, then start the provider again; "touchstone verify" runs the same check.',
  },
  NODE_KEY_UNREADABLE: {
    blame: 'user',
    message: '{path} does not hold the key of an account',
    nextStep: 'Name a file with 64 hex digits that you may read, devnet:0 to devnet:15, or none to follow only.',
  },
  NOT_A_BENCH: {
    blame: 'user',
    message: '{file} is not a bench: {why}',
    nextStep: 'Name a file that is there, and that "touchstone bench --json" wrote.',
  },
  NOT_A_VALIDATOR: {
    blame: 'user',
    message: 'what answers at {url} is not a validator of this version',
    nextStep: 'Find out which program uses this port, or name the right file with --config.',
  },
  NOT_READABLE: {
    blame: 'user',
    message: 'cannot read {file}',
    nextStep: 'Name a file, not a folder, that exists and that you may read.',
  },
  NOT_YOUR_SIGNATURE: {
    blame: 'user',
    message: 'only a signer of the certificate can write its summary',
    nextStep: 'Ask its signer for a summary, or countersign the certificate first.',
  },
  NODE_LIES: {
    blame: 'network',
    message: 'the node at {url} cannot be right: {why}',
    nextStep: 'Ask another node with --node. Do not act on what this one said.',
  },
  NODE_NOT_RUNNING: {
    blame: 'user',
    retry: true,
    message: 'no node answers at {url}',
    nextStep: 'Start one with "touchstone node", or name another with --node.',
  },
  NODE_REFUSED: {
    blame: 'user',
    message: 'the node at {url} refused: {why} ({said})',
    nextStep: 'The node advises: {mend}',
  },
  NOT_A_DEVNET: {
    blame: 'user',
    message: 'this chain is of preset {preset}: nobody gives its tokens away',
    nextStep: 'Name a node of a devnet with --node; "touchstone node" begins one.',
  },
  NO_FUNDS: {
    blame: 'user',
    message: 'account {account} is not on this chain, so it has nothing to send',
    nextStep: 'Have somebody send it tokens first; on a devnet, "touchstone faucet".',
  },
  NO_SUCH_ACCOUNT: {
    blame: 'user',
    message: 'the chain has no {what} {key}',
    nextStep: 'Check the key; what is not final yet is shown with --at head.',
  },
  NO_PROOF_YET: {
    blame: 'user',
    retry: true,
    message: 'no block of the chain at {url} is final yet, so nothing can be proven',
    nextStep: 'Wait for some blocks, or ask with --at head.',
  },
  NOT_A_NODE: {
    blame: 'user',
    message: 'what answers at {url} is not a node of this version',
    nextStep: 'Find out which program uses this port, or name the right one with --node.',
  },
  NOT_A_SECRET: {
    blame: 'user',
    message: '{path} does not hold a key',
    nextStep: 'Name a file with 64 hex digits, or leave --from out for a new key.',
  },
  NOT_SEALED: {
    blame: 'user',
    message: '{path} is no wallet: a password does nothing for it',
    nextStep: 'Leave the file with the password out, or name the wallet that it is of. Nothing was done.',
  },
  NO_PASSWORD: {
    blame: 'user',
    message: 'a password is needed, and nobody is here to type it',
    nextStep: 'Run it on a terminal, or give --password-file FILE or TOUCHSTONE_WALLET_PASSWORD.',
  },
  LONGER_THAN_LEASE: {
    blame: 'user',
    message: 'the parts that were asked for take {seconds}, and a lease for a verification lasts {most} in all',
    nextStep: 'Ask for shorter ones, or rent the box and verify it over SSH.',
  },
  FEWER_ASKED: {
    blame: 'user',
    message: '{option} asks {asked} of the {claimed} devices that were claimed',
    nextStep: 'Leave it out, or claim what you ask.',
  },
  NO_GPU_OPENED: {
    blame: 'prover',
    retry: true,
    message: '{address} was sold as {sold}, but no GPU could be opened there: {why}',
    nextStep:
      'Nothing was tested. Fix the cause, or ask the seller to, and verify again. For a certificate of what is there, verify with --devices cpu.',
  },
  NO_GPU_TO_BENCH: {
    blame: 'prover',
    retry: true,
    message: 'this machine should be {claimed}, but no GPU could be opened: {why}',
    nextStep: 'Nothing was measured. Fix the cause; without --claim the CPU is measured.',
  },
  NOT_FOR_THIS_KIND: {
    blame: 'user',
    message: '{option} does not go with {file}: it is {kind}',
    nextStep: 'Leave the option out, or name the file that it belongs to; "touchstone check --help" says which.',
  },
  NOT_A_RECEIPT: {
    blame: 'user',
    message: '{file} is not the receipt of a work by openings: {why}',
    nextStep: 'Name the receipt that the evidence was written beside, and its signer with --trust KEY.',
  },
  RECEIPT_UNREADABLE: {
    blame: 'prover',
    message: 'the work was shown, but nobody could read its receipt: {why}',
    nextStep: 'Nothing was written. Run it on another box, and report this.',
  },
  RESULT_NOT_TIED: {
    blame: 'user',
    message: 'the result cannot be held against the receipt: {why}',
    nextStep: '{how}',
  },
  NOT_A_BOUND: {
    blame: 'user',
    message: 'what --certificate names says nothing of the speed of the box: {why}',
    nextStep: 'Check that file by itself first; it must be a certificate by a key you trust.',
  },
  NOTHING_ATTESTS: {
    blame: 'user',
    message: 'no device of the box attests, so {option} has nothing to judge',
    nextStep: 'Leave it out to verify the box by its work alone, or have confidential computing switched on there.',
  },
  NOTHING_LEASED: {
    blame: 'user',
    message: 'nobody has a lease on this box',
    nextStep: 'See "touchstone provider status".',
  },
  NOT_GIVEN_BACK: {
    blame: 'prover',
    retry: true,
    message: 'the provider did not take the box back ({said})',
    nextStep: 'Try again; the lease ends on its time in any case.',
  },
  NOT_RENTED: {
    blame: 'user',
    message: 'this account rents nothing at {address}',
    nextStep: 'Use the address you rented it at, with the same TOUCHSTONE_HOME.',
  },
  NO_HOST_KEY: {
    blame: 'user',
    message: 'the host key of this box cannot be read from {path}',
    nextStep: 'Name the .pub file of the key your SSH server shows, with --host-key-file.',
  },
  NO_LEASE_HUB: {
    blame: 'validator',
    message: 'this box dials in, but nothing here waits for it',
    nextStep: 'Set leaseHub in validator.yaml; a box cannot dial in to "touchstone verify" alone.',
  },
  NO_SUCH_FILE: {
    blame: 'user',
    message: '{file} does not exist',
    nextStep: 'Name the backup to restore.',
  },
  OTHER_VERSION: {
    blame: 'user',
    message: 'a certificate of version 1 has neither summary nor second signature, and one of version 2 at most eight',
    nextStep: 'Verify the box again.',
  },
  OVER_LIMIT: {
    blame: 'prover',
    retry: true,
    fleet: 'stalled',
    message: '{address} did not come to an end within {limit}',
    nextStep: 'Try again; for a run that is long on purpose give it more time with --limit.',
  },
  OWN_MACHINE: {
    blame: 'prover',
    message: 'the address is that of the validator itself, or of no machine',
    nextStep: 'Its operator can name the box in validator.yaml, or set api.ownMachine there.',
  },
  OTHER_KIND_OF_WALLET: {
    blame: 'user',
    message: 'the wallet {name} is of another chain',
    nextStep: 'Name one of our chain; "touchstone wallet list" shows their kinds.',
  },
  PASSWORD_FILE: {
    blame: 'user',
    message: '{path} holds no password in its first line',
    nextStep: 'Name a file that exists, that you may read, and whose first line is the password.',
  },
  PASSWORD_MISTYPED: {
    blame: 'user',
    message: 'the two passwords differ',
    nextStep: 'Run it again; nothing was written.',
  },
  PASSWORD_TOO_SHORT: {
    blame: 'user',
    message: 'the password is shorter than {least} characters',
    nextStep: 'Choose a longer one: whoever copies the file can try millions of short ones.',
  },
  POLICY_IGNORES: {
    blame: 'user',
    message: '{file} says that {option} is ignored, and some are named',
    nextStep: 'Write "wanted" or "required" in the policy, or leave the option out.',
  },
  PROOF_OF_ANOTHER_BOX: {
    blame: 'prover',
    message: '{file} is about the box of another provider, as its signer says, so nothing was rented',
    nextStep:
      'Ask for a certificate of this box, or have it verified yourself: "touchstone verify" and the same address.',
  },
  PROOF_NOT_AS_CLAIMED: {
    blame: 'prover',
    message: 'the box that {file} is about is not what was claimed, so nothing was rented',
    nextStep: 'Rent another box, or say with --claim what this one was found to be.',
  },
  PROOF_OPEN: {
    blame: 'prover',
    message: 'what {file} shows is not established, so nothing was rented',
    nextStep: 'Ask for a certificate that "touchstone check" ends with 0, or rent all the same with --unproven.',
  },
  PROOF_REFUSED: {
    blame: 'prover',
    message: 'what {file} shows does not hold, so nothing was rented',
    nextStep: 'Send the file back to whoever gave it to you; without --proof you rent unseen.',
  },
  PROVIDER_NOT_DIALLED_IN: {
    blame: 'prover',
    retry: true,
    fleet: 'stalled',
    message: 'the provider has not dialled in within {seconds} s',
    nextStep: DIAL_OUT,
  },
  PROVIDER_NOT_RUNNING: {
    blame: 'user',
    retry: true,
    message: 'no provider with {home} answers on this machine',
    nextStep:
      'Start it with "touchstone provider": a start ends whatever was open before. If it runs as a service, set TOUCHSTONE_HOME as its unit does.',
  },
  PROVIDER_RUNNING: {
    blame: 'user',
    message: 'another provider is already running with {home}',
    nextStep: 'Stop it first ("touchstone provider stop"), or give this one a folder of its own with TOUCHSTONE_HOME.',
  },
  PROVIDER_STARTING: {
    blame: 'user',
    retry: true,
    message: 'the provider with {home} does not listen yet: it tries its SSH server and checks the cards first',
    nextStep: 'Ask again in a minute or two; its own output says how far it is.',
  },
  RENTED_ALREADY: {
    blame: 'user',
    message: 'you rent this box already, until {until}',
    nextStep:
      'Log in as you were told. If the box no longer lets you in, its provider has ended the lease: "touchstone rent {address} --end" clears it, and you can rent again.',
  },
  SSH_HOST_MISSING: {
    blame: 'user',
    message: 'validators would not know where the SSH server of this box is',
    nextStep: 'Give the name that others reach this box by with --ssh-host; behind NAT use --dial-out instead.',
  },
  SSH_NOT_READY: {
    blame: 'user',
    retry: true,
    message: 'nobody could log in to this box: {why}',
    nextStep: '{mend} --no-ssh-check skips this trial.',
  },
  STORE_AWAY: {
    blame: 'validator',
    retry: true,
    message: 'the validator at {url} runs, but its store does not answer',
    nextStep:
      'Look at what "store:" names in its settings, and for "the store" in its log; it goes on once that is back.',
  },
  TUNNEL_MISSING: {
    blame: 'prover',
    retry: true,
    fleet: 'stalled',
    message: 'the provider has not opened its tunnel within {seconds} s',
    nextStep: DIAL_OUT,
  },
  TX_EXPIRED: {
    blame: 'network',
    message: 'transaction {id} came into no block while it could, by the word of the node that was asked',
    nextStep: 'Ask another node for your account before you send it again: if this one lies, you pay twice.',
  },
  TX_REFUSED: {
    blame: 'user',
    message: 'the chain refuses the transaction: {code}',
    nextStep: 'docs/spec/chain.md §3.9 says what each kind asks for; BALANCE: the account holds too little.',
  },
  TX_REPLACED: {
    blame: 'user',
    message: 'transaction {id} came into no block: another one of this account with the same number is final',
    nextStep:
      'Look at what the account has. Send it again if it is still wanted: it cannot come into a block any more.',
  },
  UNEXPECTED: {
    blame: 'validator',
    message: '{why}',
    nextStep: 'run again with TOUCHSTONE_DEBUG=1 and report what it prints.',
  },
  OPTION_UNUSED: {
    blame: 'user',
    message: "option '{option}' was never looked at: what was done and said does not rest on it",
    nextStep:
      'Run it without that option for the same answer; and please report it, since it should have been refused.',
  },
  USAGE: { blame: 'user', message: '{why}', nextStep: 'Run "{help}" for what there is.' },
  VALIDATOR_NOT_HERE: {
    blame: 'user',
    message: 'no validator runs on this machine with {file}',
    nextStep:
      'Name its own --config. If it runs as a service, set TOUCHSTONE_HOME as its unit does, or use "systemctl stop".',
  },
  VALIDATOR_NOT_RUNNING: {
    blame: 'user',
    retry: true,
    message: 'no validator answers at {url}',
    nextStep: 'Start it with "touchstone validator --config FILE", or name the right file.',
  },
  VALIDATOR_REFUSED: { blame: 'user', message: 'the validator at {url} refused: {why} ({said})', nextStep: '{mend}' },
  VALIDATOR_RUNNING: {
    blame: 'user',
    message: 'a validator with {file} is already running on this machine',
    nextStep: 'Stop it first with "touchstone validator stop", or start this one with settings of its own.',
  },
  VALIDATOR_WITHOUT_API: {
    blame: 'user',
    message: 'a validator with these settings answers nobody: its API is off (api: null)',
    nextStep: 'Give it an api, name the right file with --config, or stop it first to copy its store.',
  },
})
