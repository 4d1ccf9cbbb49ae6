import { printable } from '../../../core/bytes/printable.ts'
import { TouchstoneError } from '../../../ports/errors.ts'

/** Every way in which reaching or using a box can fail, with what the reader can do about it. */

export const unreachable = (address: string, why: string, cause?: unknown): TouchstoneError =>
  new TouchstoneError(
    { code: 'BOX_UNREACHABLE', address, why },
    {
      message: `${address} cannot be reached: ${why}`,
      blame: 'network',
      retry: true,
      nextStep: 'Check host name, port and firewall, and that the box is up: ssh -v shows where it stops.',
      cause,
    },
  )

export const noCommonKey = (address: string, cause?: unknown): TouchstoneError =>
  new TouchstoneError(
    { code: 'SSH_NO_COMMON_KEY', address },
    {
      message: `${address} has no host key of a type we accept (Ed25519, ECDSA, RSA with SHA-2)`,
      blame: 'user',
      retry: false,
      nextStep: 'Make one on the box with "ssh-keygen -A" and restart its SSH server.',
      cause,
    },
  )

export const authFailed = (address: string, tried: readonly string[], cause?: unknown): TouchstoneError =>
  new TouchstoneError(
    { code: 'SSH_AUTH_FAILED', address, tried: tried.join(', ') },
    {
      message: `${address} refused us; tried ${tried.length > 0 ? tried.join(', ') : 'nothing, for want of a key or password'}`,
      blame: 'user',
      retry: false,
      nextStep:
        'Name the right user, and a key or password that this account accepts: --identity FILE, an agent, or TOUCHSTONE_SSH_PASSWORD.',
      cause,
    },
  )

export const keyUnreadable = (path: string, why: string): TouchstoneError =>
  new TouchstoneError(
    { code: 'SSH_KEY_UNREADABLE', path },
    {
      message: `the key file ${path} cannot be used: ${why}`,
      blame: 'user',
      retry: false,
      nextStep:
        'Give the path of a private key in OpenSSH or PEM form, and its passphrase, if it has one, in TOUCHSTONE_SSH_PASSPHRASE.',
    },
  )

export const hostKeyChanged = (
  address: string,
  got: string,
  expected: readonly string[],
  where: string,
): TouchstoneError =>
  new TouchstoneError(
    { code: 'HOST_KEY_CHANGED', address, got, expected: expected.join(' or ') },
    {
      message: `${address} shows the host key ${got}, expected ${expected.join(' or ')} (${where}): it is another machine, or somebody sits in between`,
      blame: 'network',
      retry: false,
      nextStep: `Ask the owner of the box for its fingerprint by another way. Only if it is ${got}, ${where === '--host-key' ? '' : `remove the old entry from ${where} or `}pass --host-key ${got}.`,
    },
  )

export const hostKeyRevoked = (address: string, got: string): TouchstoneError =>
  new TouchstoneError(
    { code: 'HOST_KEY_REVOKED', address, got },
    {
      message: `${address} shows the host key ${got}, which is marked revoked`,
      blame: 'network',
      retry: false,
      nextStep: 'Do not use this box before its owner has explained it.',
    },
  )

export const hostKeyUnknown = (address: string, got: string): TouchstoneError =>
  new TouchstoneError(
    { code: 'HOST_KEY_UNKNOWN', address, got },
    {
      message: `${address} shows the host key ${got}, which nobody has confirmed`,
      blame: 'user',
      retry: false,
      nextStep: `Compare it with what the owner of the box says, then pass --host-key ${got}.`,
    },
  )

export const connectionLost = (address: string, during: string, cause?: unknown): TouchstoneError =>
  new TouchstoneError(
    { code: 'BOX_CONNECTION_LOST', address, during },
    {
      message: `the connection to ${address} was lost while ${during}`,
      blame: 'network',
      retry: true,
      nextStep: 'The box may be rebooting or the network may be down: try again in a minute.',
      cause,
    },
  )

export const timedOut = (address: string, during: string, limitMs: number): TouchstoneError =>
  new TouchstoneError(
    { code: 'BOX_TIMEOUT', address, during, limitMs },
    {
      message: `${address} did not answer within ${limitMs} ms while ${during}`,
      blame: 'network',
      retry: true,
      nextStep: 'Check that the box is not overloaded, then try again.',
    },
  )

export const commandFailed = (address: string, during: string, code: number | null, said: string): TouchstoneError =>
  new TouchstoneError(
    { code: 'BOX_COMMAND_FAILED', address, during, exitCode: code ?? -1, said },
    {
      message: `${address} failed (exit code ${code ?? 'none'}) while ${during}${said === '' ? '' : `; it said: ${said}`}`,
      blame: 'prover',
      retry: false,
      nextStep:
        'The account needs a POSIX shell and the usual tools (mkdir, cat, rm, kill). Log in by hand and try them.',
    },
  )

export const floods = (address: string, during: string, limitBytes: number): TouchstoneError =>
  new TouchstoneError(
    { code: 'BOX_FLOODS', address, during, limitBytes },
    {
      message: `${address} sent more than ${limitBytes} bytes while ${during}, without being asked`,
      blame: 'prover',
      retry: false,
      nextStep: 'Look for programs that print at login (.bashrc, .profile), or do not use this box.',
    },
  )

export const notWritable = (address: string, tried: string): TouchstoneError =>
  new TouchstoneError(
    { code: 'BOX_NOT_WRITABLE', address, tried },
    {
      message: `no folder on ${address} can be written to (tried ${tried})`,
      blame: 'prover',
      retry: false,
      nextStep: 'Give the account a home directory of its own, or write access to /tmp.',
    },
  )

export const diskFull = (address: string, folder: string, needBytes: number, freeBytes: number): TouchstoneError =>
  new TouchstoneError(
    { code: 'BOX_DISK_FULL', address, folder, needBytes, freeBytes },
    {
      message: `${address} has ${freeBytes} bytes free in ${folder}, the prover needs ${needBytes}`,
      blame: 'prover',
      retry: false,
      nextStep: `Free at least ${needBytes} bytes there.`,
    },
  )

export const uploadFailed = (address: string, path: string, cause: unknown): TouchstoneError =>
  new TouchstoneError(
    { code: 'BOX_UPLOAD_FAILED', address, path },
    {
      message: `${path} could not be written on ${address}`,
      blame: 'prover',
      retry: true,
      nextStep: 'Check quota and permissions of the account, and that its SFTP server works (sftp user@host).',
      cause,
    },
  )

export const hashMismatch = (address: string, path: string, got: string, expected: string): TouchstoneError =>
  new TouchstoneError(
    { code: 'PROVER_HASH_MISMATCH', address, path, got, expected },
    {
      message: `${path} on ${address} has sha256 ${got}, expected ${expected}`,
      blame: 'prover',
      retry: true,
      nextStep: 'Try again; if it happens twice, the disk of the box is damaged or something there changes our files.',
    },
  )

export const noFlavour = (address: string, machine: string): TouchstoneError =>
  new TouchstoneError(
    { code: 'NO_PROVER_FOR_BOX', address, machine },
    {
      message: `${address} (${machine}) has no Node 20.19 or newer, and no release that carries one was given`,
      blame: 'prover',
      retry: false,
      nextStep:
        'Install Node 20.19 or newer for this account, or build the release that carries its own: npm run release:prover.',
    },
  )

/** The server said no to a channel: too many sessions, or no such subsystem. */
export const refused = (address: string, during: string, cause: Error): TouchstoneError =>
  new TouchstoneError(
    { code: 'BOX_REFUSED', address, during, said: printable(cause.message) },
    {
      message: `the SSH server of ${address} refused us a channel while ${during}: ${printable(cause.message)}`,
      blame: 'prover',
      retry: true,
      nextStep: 'The account needs to be allowed to run commands and to use SFTP; check sshd_config of the box.',
      cause,
    },
  )
