import type { ChainParams } from './params.ts'
import { compareBytes, isJailed } from './snapshots.ts'
import { StateType, type StateView } from './stateType.ts'

/** The accounts with the largest stakes judge boxes in the next epoch; of two equals the lower key comes first. */
export function chooseValidators(state: StateView, epoch: bigint, params: ChainParams): void {
  const { accounts } = state
  const chosen = accounts.stake
    .getAll()
    .flatMap((stake, place) =>
      stake >= params.stake && !isJailed(accounts.jailedUntil.get(place), epoch) ? [{ stake, place }] : [],
    )
    .sort((a, b) =>
      a.stake === b.stake
        ? compareBytes(accounts.key.get(a.place), accounts.key.get(b.place))
        : a.stake > b.stake
          ? -1
          : 1,
    )
    .slice(0, Number(params.validators))
  state.validators = StateType.fields.validators.toViewDU(chosen.map(({ place }) => place))
}
