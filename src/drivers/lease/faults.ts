import { faultsOf } from '../../ports/errors.ts'

/** Every fault of this folder. */
export const fault = faultsOf({
  ACCESS_COMMAND_FAILED: {
    blame: 'user',
    retry: true,
    message: '{program} failed while {during}{words}',
    nextStep: 'Run it by hand from the account of the provider, and fix what it reports.',
  },
  BAD_LEASE_ID: {
    blame: 'validator',
    message: 'the id of a lease has the wrong form',
    nextStep: 'Report this as a bug.',
  },
  JOURNAL_DAMAGED: {
    blame: 'user',
    message: 'the journal of leases {path} cannot be read',
    nextStep: 'Look for keys tagged touchstone-lease in authorized_keys, remove them, then move the journal away.',
  },
  LEASE_TOO_SHORT: {
    blame: 'user',
    retry: true,
    message: 'the lease was over before access was open',
    nextStep: 'Ask for a longer lease.',
  },
  NO_SUCH_CONFINEMENT: {
    blame: 'user',
    message: 'this box cannot confine a lease to: {wanted}{because}',
    nextStep: 'A container needs docker or podman running and --image; an account of its own needs root and useradd.',
  },
  STILL_CLEARING: {
    blame: 'user',
    retry: true,
    message: 'what another lease left is still being removed, and until then this box has no room, or opens no access',
    nextStep: 'Wait: it is removed by itself. Where it comes back, put homes and /tmp on file systems with more room.',
  },
  UNSAFE_PATH: {
    blame: 'user',
    message: '{path} contains characters that a shell would interpret',
    nextStep: 'Set TOUCHSTONE_HOME to a path of letters, digits, dots, dashes and slashes.',
  },
  UNSAFE_SETTING: {
    blame: 'user',
    message: '{name} contains characters that a shell would interpret',
    nextStep: 'Give {name} a value of letters, digits, dots, dashes, colons and slashes, or unset it.',
  },
  USER_IDS_USED_UP: {
    blame: 'user',
    message: 'no user id is left for a lease',
    nextStep: 'Check the clock of this box and the number in {file}: ids go up from {first}.',
  },
})
