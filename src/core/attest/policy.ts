import * as z from 'zod'
import type { DeepReadonly } from '../bytes/decodeJson.ts'
import { ARCH_NAMES } from './nvidiaDevice.ts'

const digest = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`))
const pins = z.array(digest(32)).max(32)
/** Without it evidence is refused, or doubted, or nothing is asked. */
const wanted = z.enum(['required', 'wanted', 'ignored'])
const level = z.int().min(0).max(255)
const version = z.string().regex(/^\d{1,6}(\.\d{1,6}){1,4}$/)

/** What evidence must show to be accepted: data, so that a network agrees on it and changes it by version. */
export const policySchema = z.strictObject({
  version: z.literal(1),
  /** Roots by the SHA-256 of their public key. */
  roots: z.strictObject({ device: pins, rim: pins, amd: pins, intel: pins }),
  archs: z.array(z.enum(ARCH_NAMES)),
  /** Drivers below are refused; null asks nothing. */
  leastDriver: version.nullable(),
  rim: wanted,
  ocsp: wanted,
  /** How old an answer of OCSP may be when it is used. */
  ocspMaxAgeSeconds: z.int().min(1),
  /** Whether a certificate on hold still counts. */
  allowOnHold: z.boolean(),
  clockSkewSeconds: z.int().min(0).max(3600),
  cpu: z.strictObject({
    /** Launch measurements of the images that may speak for the box, hex of 48 bytes; none makes tier A impossible. */
    measurements: z.array(digest(48)).max(256),
    /** States of Intel's TCB that count. */
    tdxStatus: z.array(z.string().max(40)),
    /** AMD's list of revoked certificates; nothing is asked where this is not said. */
    crl: wanted.exactOptional(),
    /** The least level of each part of AMD's firmware; nothing is asked where this is not said. */
    leastSnp: z.strictObject({ bootLoader: level, tee: level, snp: level, microcode: level }).exactOptional(),
  }),
})

export type AttestationPolicy = DeepReadonly<z.infer<typeof policySchema>>

/** The roots of the vendors, and every kind of device that we can read. */
export const NVIDIA_POLICY: AttestationPolicy = {
  version: 1,
  roots: {
    // NVIDIA Device Identity CA.
    device: ['a90c4eb5acfd3e3d03a25db6a26b84f720ad0503196c627c21ddd48dd85b06a4'],
    // NVIDIA CoRIM signing Root CA.
    rim: ['dec1dc316477aa851eebdf51327ae9f864bc8d89254657ed1e7eb9168af1e1a3'],
    // ARK-Milan; the roots of later processors are to be pinned by whoever has them from AMD.
    amd: ['9f056bee44377e29308cb5ffa895bdfb62d18881fa6bed8d6f075b0204089cb9'],
    // Intel SGX Root CA.
    intel: ['a0af031289f5d5d4132f9186068a7fc13628633ba235777472e29b6b6c67a49e'],
  },
  archs: [...ARCH_NAMES],
  leastDriver: null,
  rim: 'wanted',
  ocsp: 'wanted',
  ocspMaxAgeSeconds: 24 * 3600,
  allowOnHold: false,
  clockSkewSeconds: 300,
  cpu: { measurements: [], tdxStatus: ['UpToDate'] },
}
