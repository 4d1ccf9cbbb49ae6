import type { DeviceClass } from '../core/proof/sizeClass.ts'
import type { Device, DeviceFacts } from './device.ts'
import type { WorkDevice } from './workDevice.ts'

export interface OpenOptions {
  /** Devices by the driver's numbers; all unless said otherwise. */
  readonly ordinals?: readonly number[]
  /** Told of each device that cannot be opened while another can; without it one such device fails the whole call. */
  readonly onFailure?: (fault: unknown) => void
}

/** All that the program needs of one kind of driver. Another vendor is a folder that makes one, and a line in the registry. */
export interface BackEnd {
  /** As `--devices` and the inventory name it: small letters and digits. */
  readonly name: string
  readonly class: DeviceClass
  /** Throws where the machine has no such device. */
  open(options: OpenOptions): Promise<readonly Device[]>
  /** Whether what `open` threw says only that: such a machine is not at fault. */
  isAbsent?(error: unknown): boolean
  /** For works; throws where the machine has no such device. */
  openWork?(): Promise<readonly WorkDevice[]>
  /** Devices that the machine lists, told without opening one; null where it lists none. */
  listed?(): Promise<string | null>
  /** What else this machine says of these devices, for the inventory. */
  describe?(devices: readonly DeviceFacts[]): Promise<DeviceFacts['details']>
}
