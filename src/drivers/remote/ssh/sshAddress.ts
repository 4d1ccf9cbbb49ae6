import { isIP } from 'node:net'
import type { TouchstoneError } from '../../../ports/errors.ts'
import { fault } from '../faults.ts'

export interface SshAddress {
  readonly user: string
  readonly host: string
  readonly port: number
}

const USER = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/
const HOST_NAME = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/
const FORM = /^ssh:\/\/(?:([^@/]*)@)?(\[[^\]/]*\]|[^:/@]*)(?::([0-9]{1,5}))?\/?$/

/** `ssh://user@host:port`; the user may be left out where `defaultUser` says who asks, the port is 22 if not said. */
export function parseSshAddress(text: string, defaultUser?: string): SshAddress {
  const match = FORM.exec(text)
  if (match === null) throw badAddress(text, 'it is not of the form ssh://user@host:port')
  const user = match[1] ?? defaultUser ?? ''
  if (user.includes(':'))
    throw badAddress('ssh://…', 'it carries a password, which other users of this machine could read')
  if (!USER.test(user)) throw badAddress(text, 'the user name is missing or odd')
  const host = match[2]!.startsWith('[') ? match[2]!.slice(1, -1) : match[2]!
  const good = match[2]!.startsWith('[') ? isIP(host) === 6 : HOST_NAME.test(host)
  if (!good) throw badAddress(text, 'the host is neither a name nor an address')
  const port = match[3] === undefined ? 22 : Number(match[3])
  if (port < 1 || port > 65_535) throw badAddress(text, 'the port is not between 1 and 65535')
  return { user, host: host.toLowerCase(), port }
}

export function formatSshAddress({ user, host, port }: SshAddress): string {
  return `ssh://${user}@${host.includes(':') ? `[${host}]` : host}:${port}`
}

function badAddress(text: string, why: string): TouchstoneError {
  return fault('BAD_ADDRESS', { why, text: JSON.stringify(text.slice(0, 200)) })
}
