import { join } from 'node:path'
import { answerWithoutBox } from '../../apps/node/answers.ts'
import { BoxJudge } from '../../apps/node/boxJudge.ts'
import { BoxServer } from '../../apps/node/boxServer.ts'
import type { CheckDeps } from '../../apps/node/boxTrial.ts'
import { Driller } from '../../apps/node/driller.ts'
import type { RunningNode } from '../../apps/node/node.ts'
import { Sender } from '../../apps/node/sender.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { type AccountKeys, devnetSecret } from '../../core/chain/accountKeys.ts'
import type { ChainState, Checks } from '../../core/chain/chainState.ts'
import { genesisHash } from '../../core/chain/genesisType.ts'
import { UNITS_PER_TOKEN } from '../../core/chain/params.ts'
import { TransferType } from '../../core/chain/transactions/payloads.ts'
import { loadSigner } from '../../drivers/system/loadSigner.ts'
import { nativeSigner } from '../../drivers/system/nativeSigner.ts'
import type { Log } from '../../ports/log.ts'
import { FAUCET } from '../chain/pourTokens.ts'
import { system } from '../system.ts'
import { checkRecords } from './checkRecords.ts'
import { DrillThread } from './drillThread.ts'
import { unshownReports } from './unshownReports.ts'

interface RolesDeps {
  readonly data: string
  readonly keys: AccountKeys | null
  readonly isDrilling: boolean
  readonly checks: Checks
  readonly chunkAt: CheckDeps['chunkAt']
  readonly log: Log
}

/** What the account of a node does besides blocks and votes: it drills if asked to, and checks boxes if it is a validator. */
export function openRoles({ data, keys, isDrilling, checks, chunkAt, log }: RolesDeps) {
  const thread = new DrillThread()
  const box = isDrilling ? loadSigner(data, 'box', system.randomness) : null
  let server: BoxServer | null = null
  const stops: (() => void)[] = []
  return {
    answerBox: async (bytes: Uint8Array) => await (server?.answer(bytes) ?? answerWithoutBox(bytes)),
    begin(node: RunningNode): void {
      if (keys === null) return
      const { clock, randomness } = system
      if (box !== null) {
        thread.warmUp().catch((error: unknown) => log.error('no device could be opened', { why: String(error) }))
        const peer = node.others.id
        server = new BoxServer({ node, checks, clock, box, peer, execute: (...task) => thread.show(...task) })
        const fund = node.genesis.preset === 'devnet' ? faucetOf(node, keys) : askPeople(keys, log)
        const driller = new Driller({ node, keys, box, log, fund, execute: (...task) => thread.drill(...task) })
        stops.push(() => driller.stop())
      }
      const judge = new BoxJudge({
        ...{ node, network: node.others, keys, log, clock, randomness, chunkAt },
        ...{ genesisHash: genesisHash(node.genesis), checkSignature: checks.signature },
        keep: checkRecords(join(data, 'checks'), log),
        unshown: unshownReports(join(data, 'unshown.ssz'), log),
      })
      stops.push(() => judge.stop())
    },
    async close(): Promise<void> {
      for (const stop of stops) stop()
      await thread.close()
    },
  }
}

/** Enough for a deposit and many fees. */
const DEVNET_TOKENS = 50n

/** On a devnet a newcomer helps itself: its tokens are worth nothing. */
function faucetOf(node: RunningNode, { signer }: AccountKeys): (state: ChainState) => Promise<void> {
  const sender = new Sender(node, nativeSigner(devnetSecret(FAUCET)))
  const payload = TransferType.serialize({ to: signer.publicKey, amount: DEVNET_TOKENS * UNITS_PER_TOKEN })
  return async (state) => void (await sender.send(state, { kind: 0, payload }, 'fund'))
}

function askPeople({ signer }: AccountKeys, log: Log): () => Promise<void> {
  let hasAsked = false
  return async () => {
    if (!hasAsked)
      log.warn('the account has no tokens', {
        account: toHex(signer.publicKey),
        next: 'Drilling starts with a deposit of 10 tokens, and fees: have 11 sent to it.',
      })
    hasAsked = true
  }
}
