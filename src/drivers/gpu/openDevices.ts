import { printable, SHORT_TEXT } from '../../core/bytes/printable.ts'
import type { BackEnd, OpenOptions } from '../../ports/backEnd.ts'
import type { Device, DeviceFacts } from '../../ports/device.ts'
import type { WorkDevice } from '../../ports/workDevice.ts'
import { BACK_ENDS } from './backEnds.ts'
import { fault } from './faults.ts'

/** What people may write for devices, as help says it. */
export const devicesHelp = (backEnds = BACK_ENDS): string =>
  [
    'auto',
    ...backEnds.map((one) => (isNumbered(one) ? `${one.name} (every card), ${one.name}:1 (one card)` : one.name)),
  ]
    .join(', ')
    .concat(', or several separated by commas')

/** Only cards have numbers. */
const isNumbered = (backEnd: BackEnd): boolean => backEnd.class === 'gpu'

interface Named {
  readonly backEnd: BackEnd
  readonly ordinals?: readonly number[]
}

/** Names of back ends, those of cards with a number where one card is meant, separated by commas; null where one is unknown. */
export function namedDevices(list: string, backEnds = BACK_ENDS): readonly Named[] | null {
  const found = list.split(',').map((text): Named | null => {
    const [, name, ordinal] = /^([a-z0-9]+)(?::(\d{1,2}))?$/.exec(text) ?? []
    const backEnd = backEnds.find((one) => one.name === name)
    if (backEnd === undefined || (ordinal !== undefined && !isNumbered(backEnd))) return null
    return ordinal === undefined ? { backEnd } : { backEnd, ordinals: [Number(ordinal)] }
  })
  return found.every((one) => one !== null) ? found : null
}

/** Whether a list takes all that a back end has: its name without a number does, where it is one of cards. */
export const namesEveryCard = (list: string, name: string, backEnds = BACK_ENDS): boolean =>
  list === 'auto' ||
  (namedDevices(list, backEnds) ?? []).some(
    ({ backEnd, ordinals }) => backEnd.name === name && isNumbered(backEnd) && ordinals === undefined,
  )

type OnFailure = NonNullable<OpenOptions['onFailure']>

/**
 * `auto` takes every card there is, and the CPU where there is none; a list such as `cpu,cpu` opens what it names. Of
 * several cards one that cannot be opened is told and left out; a card that was named alone is a fault. `onAbsent` hears
 * why there is no card at all.
 */
export async function openDevices(
  list: string,
  onFailure: OnFailure,
  backEnds = BACK_ENDS,
  onAbsent: OnFailure = () => {},
): Promise<Device[]> {
  if (list === 'auto') return openWhatThereIs((one) => one.open({ onFailure }), { onFailure, onAbsent }, backEnds)
  const devices: Device[] = []
  for (const { backEnd, ordinals } of namedDevices(list, backEnds) ?? unknownDevice(list, backEnds))
    devices.push(...(await backEnd.open(ordinals === undefined ? { onFailure } : { ordinals })))
  return devices
}

/** The same for works, on devices of one kind. */
export async function openWorkDevices(name: string, backEnds = BACK_ENDS): Promise<readonly WorkDevice[]> {
  const able = backEnds.filter((one) => one.openWork)
  const open = (one: BackEnd) => one.openWork!()
  if (name === 'auto') return openWhatThereIs(open, { onFailure: () => {}, onAbsent: () => {} }, able)
  return open(able.find((one) => one.name === name) ?? unknownDevice(name, able))
}

/** A box without a card is not at fault; cards that cannot be opened are one, unless others can. */
async function openWhatThereIs<T>(
  open: (backEnd: BackEnd) => Promise<readonly T[]>,
  { onFailure, onAbsent }: { readonly onFailure: OnFailure; readonly onAbsent: OnFailure },
  backEnds: readonly BackEnd[],
): Promise<T[]> {
  const [faults, absent]: [unknown[], unknown[]] = [[], []]
  const opened: T[] = []
  for (const backEnd of backEnds.filter(isNumbered))
    await open(backEnd).then(
      (devices) => opened.push(...devices),
      (error) => (backEnd.isAbsent?.(error) ? absent : faults).push(error),
    )
  if (opened.length === 0 && faults.length > 0) throw faults[0]
  faults.forEach(onFailure)
  if (opened.length === 0) absent.forEach(onAbsent)
  return opened.length > 0 ? opened : [...(await open(backEnds.find((one) => !isNumbered(one))!))]
}

/** What each kind of device adds to the inventory of the box. */
export async function describeDevices(
  devices: readonly DeviceFacts[],
  backEnds = BACK_ENDS,
): Promise<DeviceFacts['details']> {
  const told = backEnds.map(({ name, describe }) => {
    const own = devices.filter(({ backEnd }) => backEnd === name)
    return own.length > 0 ? describe?.(own) : undefined
  })
  return Object.assign({}, ...(await Promise.all(told)))
}

/** Cards that the machine lists, of kinds of which none was opened: whoever named its devices left them out. */
export async function describeLeftOut(
  devices: readonly DeviceFacts[],
  backEnds = BACK_ENDS,
): Promise<DeviceFacts['details']> {
  const others = backEnds.filter(({ name }) => devices.every(({ backEnd }) => backEnd !== name))
  const listed = (await Promise.all(others.map((one) => one.listed?.()))).filter((text) => text != null)
  return listed.length === 0 ? {} : { gpuLeftOut: printable(listed.join(', '), SHORT_TEXT) }
}

function unknownDevice(name: string, backEnds: readonly BackEnd[]): never {
  throw fault('UNKNOWN_DEVICE', { name: name.slice(0, 20), kinds: devicesHelp(backEnds) })
}
