import { nodeRoutes } from '../../apps/api/node/nodeRoutes.ts'
import { ascii } from '../../core/bytes/bytes.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { devnetSecret } from '../../core/chain/accountKeys.ts'
import { CHAIN_PRESETS } from '../../core/chain/params.ts'
import { LockType, ProjectVotePayloadType, ProposalType, TasksType } from '../../core/chain/transactions/payloads.ts'
import { isKnownTask } from '../../core/work/drilled/productTask.ts'
import { nativeSigner } from '../../drivers/system/nativeSigner.ts'
import { openWallet, readWallet } from '../../drivers/wallet/walletFile.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { type PasswordFlags, readPassword } from '../wallet/walletPassword.ts'
import { walletPath } from '../wallet/walletPath.ts'
import { NodeClient } from './nodeClient.ts'
import { DEVNET_ACCOUNT } from './nodeOption.ts'
import { type Said, sendTxs, untilFinal } from './sendTx.ts'

export interface ProjectFlags extends PasswordFlags {
  readonly node: string
  readonly chain?: string
  readonly from: string
  readonly work: number
  readonly depth: number
  readonly about: string
  readonly utility: string
  readonly count: number
  readonly wait?: boolean
  readonly json?: boolean
}

const [LOCK, PROPOSE, VOTE, TASKS] = [2, 8, 9, 10]
const PROJECT_BOND = 3
const MOST_ABOUT = 256

const HELP = 'touchstone project --help'

/** What each command says on the chain. */
const SAID = {
  new({ work, depth, about }: ProjectFlags): readonly Said[] {
    const terms = { kind: 0, graph: new Uint8Array(32), records: 0n, work: BigInt(work), depth }
    if (!isKnownTask(terms))
      throw fault('USAGE', { why: 'nobody could do such a work: it is too large for its depth', help: HELP })
    if (!/^[\x20-\x7e]*$/.test(about) || about.length > MOST_ABOUT)
      throw fault('USAGE', { why: `--about has at most ${MOST_ABOUT} plain characters`, help: HELP })
    // Every preset has the same bond; a chain with another one says BALANCE.
    const bond = { purpose: PROJECT_BOND, amount: CHAIN_PRESETS.devnet.projectBond }
    const proposal = { ...ProposalType.defaultValue(), ...terms, uri: ascii(about) }
    return [
      { kind: LOCK, payload: LockType.serialize(bond) },
      { kind: PROPOSE, payload: ProposalType.serialize(proposal) },
    ]
  },
  vote({ utility }: ProjectFlags, project: number): readonly Said[] {
    const halves = { '0': 0, '0.5': 1, '1': 2, '2': 4 }[utility]
    if (halves === undefined) throw fault('USAGE', { why: '--utility is 0, 0.5, 1 or 2', help: HELP })
    return [{ kind: VOTE, payload: ProjectVotePayloadType.serialize({ project, utility: halves }) }]
  },
  publish({ count }: ProjectFlags, project: number): readonly Said[] {
    return [{ kind: TASKS, payload: TasksType.serialize({ project, count }) }]
  },
}

export type ProjectAct = keyof typeof SAID

/** Says it on the chain. Everything that can be refused here is, before a password is asked for. */
export async function actOnProject(
  act: ProjectAct,
  flags: ProjectFlags,
  given: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number> {
  if (act !== 'new' && !/^(0|[1-9][0-9]{0,4})$/.test(given))
    throw fault('USAGE', { why: `${given} is not the number of a project`, help: 'touchstone chain projects' })
  const said = SAID[act](flags, Number(given))
  const client = new NodeClient(flags.node, flags.chain)
  await client.terms(signal)
  const signer = await signerOf(client, flags, env, signal)
  const sent = await sendTxs(client, signer, said, signal)
  const account = toHex(signer.publicKey)
  if (flags.wait) await untilFinal(client, account, sent, signal)
  const told = { transaction: sent.id, account, isFinal: flags.wait === true }
  const state = flags.wait ? 'final' : 'on its way'
  process.stdout.write(flags.json ? `${JSON.stringify(told)}\n` : `${act}: ${state}, ${sent.id}\n`)
  return EXIT.genuine
}

async function signerOf(
  client: NodeClient,
  flags: ProjectFlags,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Signer> {
  const [, index] = DEVNET_ACCOUNT.exec(flags.from) ?? []
  if (index !== undefined) {
    const { preset } = await client.ask(nodeRoutes.getChain, {}, signal)
    // Everybody has these keys: on another chain they are nobody's.
    if (preset !== 'devnet') throw fault('NOT_A_DEVNET', { preset })
    return nativeSigner(devnetSecret(Number(index)))
  }
  const path = walletPath(env, flags.from)
  if (readWallet(path).kind !== 'touchstone') throw fault('OTHER_KIND_OF_WALLET', { name: flags.from })
  return nativeSigner((await openWallet(path, await readPassword(flags, env, signal))).secret)
}
