import { boxWords } from '../../../core/bytes/boxWords.ts'
import { printable } from '../../../core/bytes/printable.ts'
import type { ProverProcess, RemoteBox } from '../../../ports/remoteBox.ts'
import { inTime } from '../../system/inTime.ts'
import { fault } from '../faults.ts'
import { type ProverRelease, readRelease } from '../readRelease.ts'
import { installRelease } from './installRelease.ts'
import { parseSshAddress } from './sshAddress.ts'
import { startProver } from './sshProver.ts'
import { openSession, type SessionOptions, type SshSession } from './sshSession.ts'
import { openWorkspace, type Workspace, type WorkspaceRules } from './workspace.ts'

export interface ReleaseFlavour extends Pick<ProverRelease, 'machine' | 'carriesNode'> {
  /** Where it lies, or how it is made once a box needs it. */
  readonly directory: string | (() => Promise<string>)
}

export interface SshBoxOptions extends SessionOptions, Pick<WorkspaceRules, 'silenceSeconds'> {
  /** Tried in order: the first that this box can run. */
  readonly flavours: readonly ReleaseFlavour[]
  /** Leave the release on the box for the next run. */
  readonly keep: boolean
  readonly defaultUser?: string
  /** Added to the command of the release. */
  readonly proverArguments?: readonly string[]
  /** Bytes on their way to the box. */
  readonly onUpload?: (sent: number, of: number) => void
  /** How long a prover may take to end by itself before it is made to. */
  readonly graceMs?: number
}

/** A server that does not close after our goodbye is left standing. */
const GOODBYE_MS = 2_000

/** Logs in to a box and holds it. Ctrl-C, a crash or a cut end everything on the box too (see boxScripts). */
export async function connectSsh(address: string, options: SshBoxOptions, signal: AbortSignal): Promise<RemoteBox> {
  const to = parseSshAddress(address, options.defaultUser)
  const session = await openSession(to, options, signal)
  return new SshBox(session, to.user, options)
}

class SshBox implements RemoteBox {
  readonly address: string
  readonly access: Record<string, string>
  readonly #session: SshSession
  readonly #options: SshBoxOptions
  readonly #provers = new Set<ProverProcess>()
  #workspace: Workspace | null = null
  #installed: { readonly release: ProverRelease; readonly folder: string } | null = null
  #started = 0
  #closing: Promise<void> | null = null

  constructor(session: SshSession, user: string, options: SshBoxOptions) {
    this.#session = session
    this.#options = options
    this.address = session.address
    this.access = {
      way: 'ssh',
      account: user,
      hostKey: session.hostKey.fingerprint,
      hostKeyTrust: session.hostKey.trust,
    }
  }

  async install(signal: AbortSignal): Promise<void> {
    if (this.#installed !== null) return
    const { keep, flavours, onUpload = () => {} } = this.#options
    this.#workspace ??= await openWorkspace(this.#session, this.#options, signal)
    const flavour = chooseFlavour(flavours, this.#workspace)
    if (flavour === null)
      throw fault('NO_PROVER_FOR_BOX', {
        address: this.address,
        machine: boxWords(printable(this.#workspace.machine)),
      })
    const { directory } = flavour
    const release = await readRelease(typeof directory === 'string' ? directory : await directory())
    const plan = { session: this.#session, workspace: this.#workspace, release, keep, onUpload }
    const { folder, uploadedBytes } = await installRelease(plan, signal)
    this.#installed = { release, folder }
    const node = flavour.carriesNode ? 'carried by the release' : this.#workspace.nodeVersion
    Object.assign(this.access, { node, release: release.id, uploadedBytes: String(uploadedBytes) })
  }

  async start(signal: AbortSignal): Promise<ProverProcess> {
    await this.install(signal)
    const { release, folder } = this.#installed!
    const [program = '', ...rest] = release.command
    // A program that is part of the release is started from there; any other (the box's own Node) is looked up by the box.
    const own = release.files.some((file) => file.path === program)
    const { proverArguments = [], keep, graceMs } = this.#options
    const command = [own ? `./${program}` : program, ...rest, ...proverArguments]
    const place = { session: this.#session, workspace: this.#workspace!, number: this.#started++ }
    const prover = await startProver({ ...place, folder, command, keep, graceMs }, signal)
    this.#provers.add(prover)
    void prover.ended.then(() => this.#provers.delete(prover))
    return prover
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    if (!this.#session.isLost()) {
      await Promise.all([...this.#provers].map((prover) => prover.stop()))
      await this.#workspace?.close()
    }
    this.#session.close()
    await inTime(this.#session.gone, GOODBYE_MS, () => this.#session.abort())
  }
}

function chooseFlavour(flavours: readonly ReleaseFlavour[], workspace: Workspace): ReleaseFlavour | null {
  const fits = flavours.filter(({ machine }) => machine === 'any' || machine === workspace.machine)
  const hasNode = isNodeRecent(workspace.nodeVersion)
  return fits.find(({ carriesNode }) => hasNode !== carriesNode) ?? fits.find(({ carriesNode }) => carriesNode) ?? null
}

/** 20.19 is the oldest Node the prover is tested on. */
export function isNodeRecent(version: string): boolean {
  const match = /^v([0-9]{1,3})\.([0-9]{1,3})\.[0-9]+/.exec(version)
  if (match === null) return false
  const [major, minor] = [Number(match[1]), Number(match[2])]
  return major > 20 || (major === 20 && minor >= 19)
}
