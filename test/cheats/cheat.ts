import type { BoxReport, VerifyOptions } from '../../src/apps/validator/verifyBox.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import type { Device, OnRoot, SeriesTask } from '../../src/ports/device.ts'
import { honestProgram, type ProverProgram } from '../support/inProcessBox.ts'
import { ReferenceDevice, type ReferenceDeviceOptions } from '../support/openReferenceDevice.ts'
import type { VirtualClock } from '../support/virtualClock.ts'

/** What a cheater has at hand. */
export interface CheatKit {
  readonly engine: TileEngine
  readonly clock: VirtualClock
  /** Uniform in [0, 1). */
  readonly chance: () => number
}

/** A prover that really does it, and what it must get. */
export interface BoxCheat {
  /** Row of docs/attacks.md. */
  readonly attack: number
  readonly name: string
  readonly how: string
  /** The code of the rejection or of the fault; ACCEPTED where the attack has no effect, and `check` says which. */
  readonly expected: string
  readonly options?: Partial<VerifyOptions>
  program(kit: CheatKit): ProverProgram
  check?(report: BoxReport): void
}

/** A lie told with evidence instead of messages: to `judgeRun` or to a reader of certificates. */
export interface EvidenceCheat {
  readonly attack: number
  readonly name: string
  readonly how: string
  readonly expected: string
  outcome(kit: { readonly engine: TileEngine; readonly catalogue: Catalogue }): Promise<string>
}

export const randomBytes = (chance: () => number, length = 32): Uint8Array =>
  Uint8Array.from({ length }, () => Math.floor(256 * chance()))

type DeviceClass = new (options: ReferenceDeviceOptions, kit: CheatKit) => ReferenceDevice

/** Our own prover on `count` devices of a cheating class. */
export const withDevices =
  (Cheating: DeviceClass, count = 1, options: ReferenceDeviceOptions = {}) =>
  (kit: CheatKit): ProverProgram =>
    honestProgram({
      devices: Array.from({ length: count }, () => new Cheating({ engine: kit.engine, ...options }, kit)),
    })

export const honestDevices = (kit: CheatKit, count = 1, options: ReferenceDeviceOptions = {}): Device[] =>
  Array.from({ length: count }, () => new ReferenceDevice({ engine: kit.engine, ...options }))

/** A class of device from the methods that differ from the honest one; `this` is the device. */
export class CheatingDevice extends ReferenceDevice {
  readonly kit: CheatKit
  /** Series begun so far, those of the calibration with them. */
  protected seriesBegun = 0

  constructor(options: ReferenceDeviceOptions, kit: CheatKit) {
    super(options)
    this.kit = kit
  }

  override async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
    this.seriesBegun++
    await super.runSeries(task, onRoot, signal)
  }

  protected get chance(): () => number {
    return this.kit.chance
  }
}
