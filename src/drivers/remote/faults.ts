import { boxWords } from '../../core/bytes/boxWords.ts'
import { faultsOf, type TouchstoneError } from '../../ports/errors.ts'

/** What a reader does about a provider whose reasons we do not know. */
export const ASK_ITS_LOG = 'Ask the provider what its log says, or choose another box.'

/** Every fault on the way to a box. */
export const fault = faultsOf({
  BAD_ADDRESS: {
    blame: 'user',
    message: '{text} is not the address of a box: {why}',
    nextStep: 'Write it as root@203.0.113.7:22, as an alias of your ~/.ssh/config, or paste the ssh command in quotes.',
  },
  BAD_ARGUMENT: {
    blame: 'validator',
    message: 'an argument for the box holds {what}',
    nextStep: 'Report this as a bug.',
  },
  BAD_RELEASE: {
    blame: 'user',
    fleet: 'ours',
    message: 'the prover release in {directory} cannot be used: {why}',
    nextStep: 'Build the prover release again.',
  },
  BOX_COMMAND_FAILED: {
    blame: 'prover',
    message: '{address} failed while {during}{words}',
    nextStep:
      'The account needs a POSIX shell and the usual tools (mkdir, cat, rm, kill). Log in by hand and try them.',
  },
  BOX_CONNECTION_LOST: {
    blame: 'network',
    retry: true,
    message: 'the connection to {address} was lost while {during}',
    nextStep: 'The box may be rebooting or the network may be down: try again in a minute.',
  },
  BOX_DISK_FULL: {
    blame: 'prover',
    message: '{address} has {freeBytes} bytes free in a folder that it calls {folder}, the prover needs {needBytes}',
    nextStep: 'Free at least {needBytes} bytes there.',
  },
  BOX_FLOODS: {
    blame: 'prover',
    message: '{address} sent more than {limitBytes} bytes while {during}, without being asked',
    nextStep: 'Look for programs that print at login (.bashrc, .profile), or do not use this box.',
  },
  BOX_NOT_WRITABLE: {
    blame: 'prover',
    message: 'no folder on {address} can be written to (tried {tried})',
    nextStep: 'Give the account a home directory of its own, or write access to /tmp.',
  },
  BOX_REFUSED: {
    blame: 'prover',
    retry: true,
    message: 'the SSH server of {address} refused us a channel while {during}; it said: {words}',
    nextStep: 'The account needs to be allowed to run commands and to use SFTP; check sshd_config of the box.',
  },
  BOX_TIMEOUT: {
    blame: 'network',
    retry: true,
    fleet: 'stalled',
    message: '{address} did not answer within {limitMs} ms while {during}',
    nextStep: 'Check that the box is not overloaded, then try again.',
  },
  BOX_UNREACHABLE: {
    blame: 'network',
    retry: true,
    message: '{address} cannot be reached: {why}',
    nextStep: 'Check host name, port and firewall, and that the box is up: ssh -v shows where it stops.',
  },
  BOX_UPLOAD_FAILED: {
    blame: 'prover',
    retry: true,
    message: '{path} could not be written on {address}',
    nextStep: 'Check quota and permissions of the account, and that its SFTP server works (sftp user@host).',
  },
  HOST_KEY_CHANGED: {
    blame: 'network',
    message:
      '{address} shows the host key {got}, expected {expected} ({where}): it is another machine, or someone is intercepting the connection',
    nextStep:
      'Ask the owner of the box for its fingerprint through another channel. Only if it is {got}, {unless}pass --host-key {got}.',
  },
  HOST_KEY_COSTLY: {
    blame: 'prover',
    message:
      '{address} shows the RSA host key {got}, which takes too long to check: its exponent has more than 32 bits, or its modulus more than 8192',
    nextStep: 'Make another on the box with "ssh-keygen -A", and restart its SSH server.',
  },
  HOST_KEY_REVOKED: {
    blame: 'network',
    message: '{address} shows the host key {got}, which is marked revoked',
    nextStep: 'Do not use this box until its owner has explained it.',
  },
  HOST_KEY_UNKNOWN: {
    blame: 'user',
    fleet: 'ours',
    message: '{address} shows the host key {got}, which nobody has confirmed',
    nextStep: 'Compare it with what the owner of the box says, then pass --host-key {got}.',
  },
  KNOWN_HOSTS_FULL: {
    blame: 'user',
    fleet: 'ours',
    retry: true,
    message: '{path} has no room for another host key',
    nextStep: 'Remove lines of hosts that you no longer use, or pass --host-key with what the owner of the box says.',
  },
  LEASE_LEADS_ELSEWHERE: {
    blame: 'prover',
    message: 'the lease leads elsewhere: {why}',
    nextStep:
      'Ask the provider to name the address it is reached at, with --ssh-host; or allow the network of its SSH server: leaseNetworks in validator.yaml, verify --lease-networks.',
  },
  LEASE_KEY_UNUSABLE: {
    blame: 'user',
    message: 'the key {path} cannot serve for a lease: {why}',
    nextStep: 'Name an Ed25519 private key without a passphrase, or leave --key out: a fresh one is made.',
  },
  LEASE_REFUSED: {
    blame: 'prover',
    message: 'the provider refuses, as it says: {words}',
    nextStep: '{mend}',
  },
  NODE_UNFIT: {
    blame: 'user',
    message: '{node} cannot be carried to a box: {why}',
    nextStep: 'Name a Node for Linux on x86-64 with --node FILE; a build from nodejs.org needs nothing further.',
  },
  NO_PROVER_FOR_BOX: {
    blame: 'prover',
    message:
      '{address}, a machine that it calls {machine}, has no Node 20.19 or newer, and no release that carries one was given',
    nextStep:
      'Name a Node for Linux on x86-64 with --node FILE (a build from nodejs.org), or install Node 20.19 or newer there.',
  },
  PROVER_HASH_MISMATCH: {
    blame: 'prover',
    retry: true,
    fleet: 'release',
    message: '{path} on {address} has sha256 {got}, expected {expected}',
    nextStep: 'Try again; if it happens twice, the disk of the box is damaged or something there changes our files.',
  },
  PROVIDER_GONE: {
    blame: 'prover',
    retry: true,
    message: 'the provider closed the channel without an answer',
    nextStep: `Compare the key in the address with the one the provider shows. ${ASK_ITS_LOG}`,
  },
  PROVIDER_NONSENSE: {
    blame: 'prover',
    message: '{what}',
    nextStep: ASK_ITS_LOG,
  },
  PROVIDER_SILENT: {
    blame: 'prover',
    retry: true,
    message: 'the provider did not answer within {limitMs} ms',
    nextStep: ASK_ITS_LOG,
  },
  SFTP_NOT_CLOSED: {
    blame: 'prover',
    message: '{address} did not close its SFTP channel within {limitMs} ms',
    nextStep: 'Restart the SSH server of the box, or take SFTP out of its sshd_config: files then go by commands.',
  },
  SSH_AUTH_FAILED: {
    blame: 'user',
    message: '{address} refused us; tried {means}',
    nextStep:
      'Name the right user, and a key or password that this account accepts: --identity FILE, an agent, or TOUCHSTONE_SSH_PASSWORD.',
  },
  SSH_KEY_UNREADABLE: {
    blame: 'user',
    fleet: 'ours',
    message: 'the key file {path} cannot be used: {why}',
    nextStep:
      'Give the path of a private key in OpenSSH or PEM form, and its passphrase, if it has one, in TOUCHSTONE_SSH_PASSPHRASE.',
  },
  SSH_SETTINGS_UNREADABLE: {
    blame: 'user',
    fleet: 'ours',
    message: 'ssh does not understand its settings for {host}; it said: "{said}"',
    nextStep: 'Try "ssh -G {host}", and correct what it names in ~/.ssh/config.',
  },
  SSH_NO_COMMON_KEY: {
    blame: 'user',
    message: '{address} has no host key of a type we accept (Ed25519, ECDSA, RSA with SHA-2)',
    nextStep: 'Make one on the box with "ssh-keygen -A" and restart its SSH server.',
  },
})

/** What a box wrote, behind a sentence about it. */
export const itSaid = (said: string): string => (said === '' ? '' : `; it said: ${boxWords(said)}`)

/** `said`: what the box wrote before it ended. */
export const commandFailed = (address: string, during: string, said: string): TouchstoneError =>
  fault('BOX_COMMAND_FAILED', { address, during, said, words: itSaid(said) })
