import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { proverFlavours } from '../../drivers/remote/carryNode.ts'
import { connectSsh } from '../../drivers/remote/ssh/connectSsh.ts'
import { dialOf, type RouteDeps } from '../../drivers/remote/ssh/dialRoute.ts'
import { OF_FLEET } from '../../drivers/remote/ssh/knownHosts.ts'
import { formatSshAddress, parseSshAddress, type SshAddress } from '../../drivers/remote/ssh/sshAddress.ts'
import type { AskHidden, SshAuth } from '../../drivers/remote/ssh/sshAuth.ts'
import { defaultKnownHosts, routeOf, type SshRoute } from '../../drivers/remote/ssh/sshRoute.ts'
import type { SessionOptions } from '../../drivers/remote/ssh/sshSession.ts'
import { parseSshTarget } from '../../drivers/remote/ssh/sshTarget.ts'
import { askHidden } from '../../drivers/system/askHidden.ts'
import { cacheFolder, dataFolder, ownHome } from '../../drivers/system/xdgFolders.ts'
import type { RemoteBox } from '../../ports/remoteBox.ts'
import type { SshFlags } from './sshFlags.ts'

/** Where a box is, and how the prover is started there. */
export interface BoxTarget {
  readonly address: string
  /** The numeric address of the box, where it was looked up and judged before. */
  readonly at?: string
  readonly proverArguments: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

export interface SshBoxTarget extends BoxTarget {
  readonly flags: SshFlags
  /** Shows a host key that was never seen before, and asks for passwords. */
  readonly say: (line: string) => void
  /** Bytes on their way to the box. */
  readonly onUpload?: (sent: number, of: number) => void
  /**
   * Whether the address may be anything that leads somewhere for this user: an alias, a pasted command. Then the user's
   * own SSH settings are asked, and on a terminal the user. A fleet takes plain addresses, whoever wrote them.
   */
  readonly isPersonal?: boolean
}

/** A box over SSH with this clone's prover. The password, if one is needed, comes from TOUCHSTONE_SSH_PASSWORD. */
export async function openSshBox(target: SshBoxTarget, signal: AbortSignal): Promise<RemoteBox> {
  const { address, flags, proverArguments, isPersonal = false } = target
  const user = userInfo().username
  const ask = isPersonal ? askerOn(process) : undefined
  const optionsFor = (route: SshRoute) => sessionOptions(target, route, ask)
  const route = isPersonal
    ? await routeOf(parseSshTarget(address), user, signal)
    : plainRoute(parseSshAddress(address, user))
  // The password is that of the box: nobody on the way hears it.
  const { TOUCHSTONE_SSH_PASSWORD: _, ...env } = target.env
  const deps: RouteDeps = {
    routeOf: (hop, inner) => routeOf(hop, user, inner),
    optionsFor: (hop) => sessionOptions({ ...target, env }, hop, ask),
  }
  const dial = dialOf(route, deps)
  const options = {
    ...optionsFor(route),
    flavours: await proverFlavours(join(cacheFolder(target.env), 'provers'), flags.node),
    ...(target.onUpload === undefined ? {} : { onUpload: target.onUpload }),
    keep: flags.keep,
    proverArguments,
    ...(flags.hostKey === undefined ? {} : { hostKey: flags.hostKey }),
    ...(target.at === undefined ? {} : { at: target.at }),
    ...(dial === undefined ? {} : { dial }),
  }
  return connectSsh(formatSshAddress(route.to), options, signal)
}

const plainRoute = (to: SshAddress): SshRoute => ({
  ...{ to, identityFiles: [], agent: null, jumps: [], command: null, knownAs: null, isStrict: false },
  onlyIpVersion: null,
  knownHostsFiles: defaultKnownHosts(),
})

/** The host keys that we have learnt. */
export const ownKnownHosts = (env: NodeJS.ProcessEnv): string => join(dataFolder(env), 'known_hosts')

function sessionOptions(
  { flags, env, say, isPersonal }: SshBoxTarget,
  route: SshRoute,
  ask: AskHidden | undefined,
): SessionOptions {
  return {
    auth: { ...authOf(flags, route, env), ...(ask === undefined ? {} : { ask }) },
    knownHostsFiles: route.knownHostsFiles,
    knownAs: route.knownAs,
    onlyIpVersion: route.onlyIpVersion,
    ownKnownHostsFile: ownKnownHosts(env),
    ...(isPersonal ? {} : { note: OF_FLEET }),
    onFirstUse: (seen) => {
      if (route.isStrict) return false
      say(`first time at ${seen.address}: its host key is ${seen.fingerprint}, remembered once the login succeeds`)
      return true
    },
  }
}

/** Somebody can be asked where both ends are a terminal. */
function askerOn({ stdin: input, stderr: output }: AskingStreams): AskHidden | undefined {
  if (!input.isTTY || !output.isTTY) return undefined
  return (question, signal) => askHidden({ input, output }, `  ${question}`, signal)
}

type AskingStreams = Pick<NodeJS.Process, 'stdin' | 'stderr'>

const DEFAULT_KEYS = ['id_ed25519', 'id_ecdsa', 'id_rsa']

function authOf({ identity }: SshFlags, route: SshRoute, env: NodeJS.ProcessEnv): SshAuth {
  const password = env.TOUCHSTONE_SSH_PASSWORD === undefined ? {} : { password: env.TOUCHSTONE_SSH_PASSWORD }
  const passphrase = env.TOUCHSTONE_SSH_PASSPHRASE === undefined ? {} : { passphrase: env.TOUCHSTONE_SSH_PASSPHRASE }
  if (identity !== undefined) return { keyFiles: [{ path: identity, ...passphrase }], ...password }
  const socket = route.agent === null || route.agent === 'SSH_AUTH_SOCK' ? env.SSH_AUTH_SOCK : route.agent
  const agent = socket && existsSync(socket) ? { agent: socket } : {}
  const usual = DEFAULT_KEYS.map((name) => join(ownHome(), '.ssh', name))
  const paths = route.identityFiles.length === 0 ? usual : route.identityFiles
  return { ...agent, keyFiles: paths.map((path) => ({ path, optional: true, ...passphrase })), ...password }
}
