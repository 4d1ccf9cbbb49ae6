import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { Arch, NvidiaEvidence } from '../../../src/core/attest/nvidiaDevice.ts'
import { type Holder, issue, pemOf, signRaw } from './testAuthority.ts'
import { context, integer, octets, oid, sequence } from './writeDer.ts'

/** The authorities of a made-up vendor, in the form of NVIDIA's. */
export interface TestVendor {
  readonly root: Holder
  readonly family: Holder
  readonly provisioner: Holder
}

export function makeVendor(): TestVendor {
  const root = issue({ name: 'Test Device Identity CA', ca: true })
  const family = issue({ name: 'Test GH100 Identity', ca: true }, root)
  return { root, family, provisioner: issue({ name: 'Test Provisioner ICA 1', ca: true }, family) }
}

const DIGEST_BYTES = 48

/** SHA-384 of a word: what stands for a measured piece of firmware. */
export const digest = (word: string): Buffer => createHash('sha384').update(word).digest()

export interface DeviceWishes {
  readonly arch?: Arch
  /** 16 hex digits. */
  readonly pdi?: string
  readonly firmware?: string
  /** In place of the key of the device, in the certificate of the leaf. */
  readonly namedKey?: Buffer
  readonly blocks?: number
  readonly leafUsage?: number
}

const NAMES: Readonly<Record<Arch, readonly [string, string]>> = {
  HOPPER: ['GH100 A01 GSP FMC LF', 'GH100 A01 GSP BROM'],
  BLACKWELL: ['GB100 A01 GSP FMC LF', 'GB100 A01 GSP BROM'],
  LS10: ['LS_10 A01 FSP FMC LF', 'LS_10 A01 FSP BROM'],
}

/** A made-up device: its chain, and reports over any nonce. */
export class TestDevice {
  readonly arch: Arch
  readonly pdi: string
  readonly holders: readonly Holder[]
  readonly #firmware: Buffer
  readonly #blocks: number

  constructor({ root, family, provisioner }: TestVendor, wishes: DeviceWishes = {}) {
    this.arch = wishes.arch ?? 'HOPPER'
    this.pdi = wishes.pdi ?? '431d480fe5e87274'
    this.#firmware = digest(wishes.firmware ?? 'fmc')
    this.#blocks = wishes.blocks ?? (this.arch === 'LS10' ? 31 : 64)
    const [leafName, deviceName] = NAMES[this.arch]
    const serial = Buffer.from(`${this.arch === 'LS10' ? '50' : '41'}${this.pdi}`, 'hex')
    const device = issue({ name: deviceName, ca: true, keyUsage: 0x04, serial }, provisioner)
    const more = this.#leafExtension(wishes.namedKey ?? device.spki)
    const leaf = issue({ name: leafName, more, keyUsage: wishes.leafUsage ?? 0x80 }, device)
    this.holders = [leaf, device, provisioner, family, root]
  }

  #leafExtension(key: Buffer) {
    const fwid = sequence(oid('2.16.840.1.101.3.4.2.2'), octets(this.#firmware))
    return this.arch === 'BLACKWELL'
      ? { '2.23.133.5.4.1.1': { value: sequence(context(6, fwid)) } }
      : { '2.23.133.5.4.1': { value: sequence(integer(1), key, fwid) } }
  }

  /** What this device signs: measurements by index, vendor's fields by number. */
  report(nonce: Uint8Array, { measurements = {}, fields = {} }: ReportWishes = {}): Buffer {
    const blocks = Array.from({ length: this.#blocks }, (_, i) =>
      Buffer.concat([Buffer.of(i + 1, 1, 51, 0, 1, DIGEST_BYTES, 0), measurements[i] ?? Buffer.alloc(DIGEST_BYTES)]),
    )
    const record = Buffer.concat(blocks)
    const opaque = Buffer.concat(
      Object.entries({ 20: this.#firmware, ...this.#standardFields(), ...fields }).map(([name, value]) =>
        Buffer.concat([le(Number(name), 2), le(value.length, 2), value]),
      ),
    )
    const signed = Buffer.concat([
      Buffer.of(0x11, 0xe0, 0x01, 0xff),
      nonce,
      Buffer.of(0),
      Buffer.of(0x11, 0x60, 0, 0, this.#blocks),
      le(record.length, 3),
      record,
      createHash('sha256').update(nonce).update(this.pdi).digest(),
      le(opaque.length, 2),
      opaque,
    ])
    return Buffer.concat([signed, signRaw(this.holders[0]!.key, signed)])
  }

  #standardFields(): Readonly<Record<number, Buffer>> {
    if (this.arch === 'LS10') return { 6: Buffer.from('96.10.55.00.01'), 22: Buffer.from(this.pdi, 'hex') }
    return {
      3: Buffer.from('550.90.07\0'),
      4: Buffer.from('8001000000000000', 'hex'),
      6: Buffer.from('009f009601000000', 'hex'),
      11: Buffer.of(0xaa),
      15: Buffer.from('882\0'),
      17: Buffer.from('1010\0'),
      18: Buffer.from('0200\0'),
      21: Buffer.of(0x55),
    }
  }

  evidence(nonce: Uint8Array, wishes: ReportWishes = {}): NvidiaEvidence {
    return { arch: this.arch, report: this.report(nonce, wishes), chain: pemOf(this.holders) }
  }
}

export interface ReportWishes {
  /** By index from 0, as golden values count. */
  readonly measurements?: Readonly<Record<number, Uint8Array>>
  readonly fields?: Readonly<Record<number, Uint8Array>>
}

const le = (value: number, length: number): Buffer => {
  const out = Buffer.alloc(length)
  out.writeUIntLE(value, 0, length)
  return out
}
