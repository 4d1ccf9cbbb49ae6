import { equalBytes } from '../bytes/bytes.ts'
import { weightOf } from './accounting.ts'
import { addAccount, type ChainState, findAccount } from './chainState.ts'
import { type Genesis, genesisHash } from './genesisType.ts'
import { KeyPlaces } from './keyPlaces.ts'
import { NOBODY } from './ledger.ts'
import { setBalance } from './purse.ts'
import { addVoterSet, takeSnapshot } from './snapshots.ts'
import { BlockRefType, ProjectType, StateType, type StateView } from './stateType.ts'
import { rootOf } from './treeRoot.ts'
import { chooseValidators } from './validators.ts'

/** No account can hold more, and all together do not overflow. */
const MOST_UNITS = 10n ** 18n

/** The state before the first block. Throws RangeError for a genesis that no chain can start from. */
export function genesisState(genesis: Genesis): ChainState {
  const { params } = genesis
  const hash = genesisHash(genesis)
  const view = StateType.defaultViewDU()
  const places = new KeyPlaces()
  view.genesisHash = hash
  for (const [epoch, eta] of genesis.etas.entries()) view.etas.set(epoch, eta)
  addGenesisAccounts({ accounts: view.accounts, places }, view, genesis)
  view.projects.push(projectZero(genesis))
  view.final = BlockRefType.toViewDU({ slot: 0n, hash })
  for (let i = 0; i < 4; i++) view.snapshots.set(i, takeSnapshot(view, 0n, params))
  view.commit()
  addVoterSet(view, 0n, params)
  chooseValidators(view, 0n, params)
  view.commit()
  return { params, genesisHash: hash, head: hash, view, places, boxPlaces: new KeyPlaces() }
}

function addGenesisAccounts(to: Parameters<typeof addAccount>[0], view: StateView, genesis: Genesis): void {
  for (const { key, balance, bond, stake, vrfKey, drilled, trained } of genesis.accounts) {
    if (findAccount(to, key) !== -1) throw new RangeError('an account stands twice in the genesis')
    const place = addAccount(to, key)
    const { accounts } = to
    setBalance(accounts, place, balance)
    accounts.bond.set(place, bond)
    accounts.stake.set(place, stake)
    accounts.vrfKey.set(place, vrfKey)
    accounts.drilled.set(place, drilled)
    accounts.trained.set(place, trained)
    accounts.settled.set(place, weightOf({ drilled, trained, failed: 0n }))
    view.supply += balance + bond + stake
    if (view.supply > MOST_UNITS) throw new RangeError('the genesis gives out more than 10^9 tokens')
  }
  for (const key of genesis.authorities) {
    const place = findAccount(to, key)
    if (place === -1) throw new RangeError('an authority is not among the accounts of the genesis')
    to.accounts.authority.set(place, 1)
  }
}

const projectZero = ({ project }: Genesis) =>
  ProjectType.toViewDU({
    ...ProjectType.defaultValue(),
    owner: NOBODY,
    status: 1,
    utility: 2,
    work: project.work,
    depth: project.depth,
  })

/** A state from its bytes, such as a neighbour sends them: the caller holds the root that it must have. */
export function stateFromBytes(genesis: Genesis, head: Uint8Array, bytes: Uint8Array): ChainState | null {
  let view: StateView
  try {
    view = StateType.deserializeToViewDU(bytes)
    if (!equalBytes(view.serialize(), bytes)) return null
  } catch {
    return null
  }
  const hash = genesisHash(genesis)
  if (!equalBytes(view.genesisHash, hash)) return null
  const places = new KeyPlaces()
  for (let place = 0; place < view.accounts.key.length; place++) places.note(view.accounts.key.get(place), place)
  const boxPlaces = new KeyPlaces()
  for (const [place, { key }] of view.boxes.getAllReadonlyValues().entries()) boxPlaces.note(key, place)
  return { params: genesis.params, genesisHash: hash, head, view, places, boxPlaces }
}

/** Committed to by the header of the block that made the state. */
export const stateRoot = ({ view }: ChainState): Uint8Array => rootOf(view)
