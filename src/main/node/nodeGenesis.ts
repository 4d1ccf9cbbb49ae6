import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { equalBytes } from '../../core/bytes/bytes.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { devnetGenesis } from '../../core/chain/devnetGenesis.ts'
import type { Vrf } from '../../core/chain/ecvrf.ts'
import { genesisState } from '../../core/chain/genesisState.ts'
import {
  decodeGenesis,
  encodeGenesis,
  type Genesis,
  genesisFromJson,
  genesisHash,
  genesisToJson,
} from '../../core/chain/genesisType.ts'
import { CHAIN_PRESETS } from '../../core/chain/params.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import { writeAside } from '../../drivers/system/writeAside.ts'
import { GENESIS_FILE } from '../chain/nodeOption.ts'
import { fault } from '../faults.ts'
import { system } from '../system.ts'

const MOST_FILE_BYTES = 256 << 20

export interface GenesisChoice {
  /** The folder of the node. */
  readonly data: string
  /** A file, `devnet`, or nothing: the chain of the folder, else a devnet. */
  readonly named: string | undefined
  readonly bootstrap: readonly string[]
  readonly authorities: number
}

/** The chain that a node follows, and whether it is one that begins here and now. */
export async function chooseGenesis(choice: GenesisChoice, vrf: Vrf): Promise<{ genesis: Genesis; isNew: boolean }> {
  const kept = join(choice.data, GENESIS_FILE)
  const held = existsSync(kept) ? readGenesisFile(kept) : null
  const { named } = choice
  if (named !== undefined && named !== 'devnet') {
    const genesis = readGenesisFile(named)
    if (held !== null && !isSame(held, genesis))
      throw fault('ANOTHER_GENESIS', { folder: choice.data, held: nameOf(held), named: nameOf(genesis) })
    if (held === null) keep(kept, genesis)
    return { genesis, isNew: false }
  }
  if (held !== null && named === 'devnet' && held.preset !== 'devnet')
    throw fault('ANOTHER_GENESIS', { folder: choice.data, held: nameOf(held), named })
  if (held !== null) return { genesis: held, isNew: false }
  const isNew = choice.bootstrap.length === 0
  const genesis = isNew ? beginDevnet(choice, vrf) : await joinDevnet(choice.bootstrap)
  keep(kept, genesis)
  return { genesis, isNew }
}

const isSame = (a: Genesis, b: Genesis) => equalBytes(genesisHash(a), genesisHash(b))
const nameOf = (genesis: Genesis) => toHex(genesisHash(genesis)).slice(0, 16)
const keep = (path: string, genesis: Genesis) =>
  writeAside(path, `${JSON.stringify(genesisToJson(genesis), null, 1)}\n`)

function readGenesisFile(path: string): Genesis {
  let text: string
  try {
    const read = readRegularFile(path, MOST_FILE_BYTES)
    if (typeof read === 'number') throw fault('BAD_GENESIS', { path, why: `it has ${read} bytes` })
    text = new TextDecoder().decode(read)
  } catch (error) {
    if (fault.is(error, 'BAD_GENESIS')) throw error
    throw fault('BAD_GENESIS', { path, why: 'it cannot be read' }, error)
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw fault('BAD_GENESIS', { path, why: 'it is not JSON' }, error)
  }
  return usable(genesisFromJson(json), path)
}

/** A chain must be able to begin: no account twice, no more tokens than there may be. */
function usable(genesis: Genesis | null, path: string): Genesis {
  if (genesis === null) throw fault('BAD_GENESIS', { path, why: 'a field is missing or out of range' })
  try {
    genesisState(genesis)
  } catch (error) {
    throw fault(
      'BAD_GENESIS',
      { path, why: error instanceof Error ? error.message : 'no state follows from it' },
      error,
    )
  }
  return genesis
}

/** Slot 0 begins with the next full second. */
function beginDevnet({ authorities }: GenesisChoice, vrf: Vrf): Genesis {
  const timeMs = BigInt(Math.ceil(system.clock.wallTime().getTime() / 1_000) * 1_000)
  return devnetGenesis({ timeMs, authorities }, vrf)
}

/** The chain that the first node of the list names. Only a devnet is joined on another's word. */
async function joinDevnet(bootstrap: readonly string[]): Promise<Genesis> {
  const { genesisFromPeer } = await import('../../drivers/p2p/genesisFromPeer.ts')
  const address = bootstrap[0]!
  const genesis = usable(decodeGenesis(await genesisFromPeer(address)), address)
  const isDevnet = equalBytes(encodeGenesis(genesis), encodeGenesis({ ...genesis, params: CHAIN_PRESETS.devnet }))
  if (!isDevnet)
    throw fault('BAD_GENESIS', { path: address, why: 'it is not that of a devnet: name its file with --genesis' })
  return genesis
}
