// Keys, signatures and a genesis for benchmarks of the chain, the same in every run.
import sodium from 'sodium-native'
import { CHAIN_PRESETS } from '../../dist/core/chain/params.js'
import { txMessage } from '../../dist/core/chain/signing.js'
import { TransferType } from '../../dist/core/chain/transactions/payloads.js'
import { openVrf } from '../../dist/drivers/sodium/openVrf.js'

/** libsodium as machine code, or nothing: the bare checks are measured with it. */
export async function openSodium() {
  const library = await openVrf()
  if (library.name !== 'sodium-native') throw new Error(library.passedOver.join('; '))
  const checks = {
    signature: library.checkSignature,
    vrf: library.vrf.verify,
    key: library.isAccountKey,
    patch: () => false,
  }
  return { library, checks }
}

/** Bytes that differ from those of every other number. */
export function numbered(length, number) {
  const bytes = new Uint8Array(length)
  new DataView(bytes.buffer).setUint32(0, Math.imul(number + 1, 0x9e3779b1) >>> 0)
  new DataView(bytes.buffer).setUint32(8, number)
  return bytes
}

export const makeSigners = (count) =>
  Array.from({ length: count }, (_, i) => {
    const [key, secret] = [new Uint8Array(32), new Uint8Array(64)]
    sodium.crypto_sign_seed_keypair(key, secret, numbered(32, i))
    return { key, secret }
  })

export function sign({ secret }, message) {
  const signature = new Uint8Array(64)
  sodium.crypto_sign_detached(signature, message, secret)
  return signature
}

const NOTHING = { balance: 10n ** 12n, bond: 0n, stake: 0n, vrfKey: new Uint8Array(32), drilled: 0n, trained: 0n }

/** The first of these keys makes all blocks and is the one voter. */
export function genesisFor(keys, vrfKey, timeMs) {
  const params = CHAIN_PRESETS.mainnet
  const first = { bond: params.bond, vrfKey: vrfKey.publicKey }
  return {
    ...{ preset: 'mainnet', timeMs, params, etas: [1, 2, 3].map((n) => new Uint8Array(32).fill(n)) },
    accounts: keys.map((key, i) => ({ ...NOTHING, key, ...(i === 0 && first) })),
    ...{ authorities: [keys[0]], project: { work: 1n, depth: 1 } },
  }
}

/** Makes signed transfers, to one of these keys each, and draws numbers below a limit: the same in every run. */
export function transfersOf(signers, keys, genesisHash) {
  let seed = 12345
  const next = (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  const nonces = new Array(signers.length).fill(0n)
  const transfer = (sender, slot) => {
    const payload = TransferType.serialize({ to: keys[next(keys.length)], amount: BigInt(1 + next(1000)) })
    const fields = {
      kind: 0,
      account: signers[sender].key,
      nonce: nonces[sender]++,
      fee: 173_000n,
      lastSlot: slot + 5n,
    }
    const unsigned = { ...fields, payer: [], payload }
    return { ...unsigned, sig: sign(signers[sender], txMessage(genesisHash, unsigned)), payerSig: [] }
  }
  return { next, transfer }
}

/** Processor time of the whole process, with its threads. */
export function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
