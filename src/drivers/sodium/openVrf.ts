import { isTorsionFreeKey, KEY_BYTES, withFastYes } from '../../core/bytes/ed25519.ts'
import { lastWords } from '../../core/bytes/printable.ts'
import { ecvrf } from '../../core/chain/ecvrf.ts'
import { nobleVrf } from '../../core/chain/nobleVrf.ts'
import type { VrfLibrary } from '../../ports/vrf.ts'
import { opensslCheck } from '../system/nativeSigner.ts'
import { openNative } from './openNative.ts'
import { openWasm } from './openWasm.ts'
import { type SodiumCalls, sodiumPoints } from './sodiumPoints.ts'

interface Opener {
  readonly name: VrfLibrary['name']
  open(): Promise<Pick<VrfLibrary, 'vrf' | 'checkSignature' | 'isAccountKey'>>
}

/** libsodium's own rule for a point is that of an account's key; bytes of another length make it throw. */
const keysOn = (sodium: SodiumCalls) => ({
  vrf: ecvrf(sodiumPoints(sodium)),
  isAccountKey: (key: Uint8Array) => key.length === KEY_BYTES && sodium.isValidPoint(key),
})

/** The faster ones, fastest first. OpenSSL checks signatures faster than WebAssembly does. */
const FASTER: readonly Opener[] = [
  {
    name: 'sodium-native',
    async open() {
      const sodium = await openNative()
      return { ...keysOn(sodium), checkSignature: withFastYes(sodium.checkSignature) }
    },
  },
  {
    name: 'sodium-wasm',
    open: async () => ({ ...keysOn(await openWasm()), checkSignature: withFastYes(opensslCheck) }),
  },
]

/** The fastest library that this machine can load, with the reasons against the ones before it. */
export async function openVrf(faster: readonly Opener[] = FASTER): Promise<VrfLibrary> {
  const passedOver: string[] = []
  for (const { name, open } of faster) {
    try {
      return { name, ...(await open()), passedOver }
    } catch (error) {
      passedOver.push(`${name} cannot be loaded here: ${lastWords(String(error))}`)
    }
  }
  const checks = { checkSignature: withFastYes(opensslCheck), isAccountKey: isTorsionFreeKey }
  return { name: 'noble', vrf: nobleVrf, ...checks, passedOver }
}
