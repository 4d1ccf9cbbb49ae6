import { toHex } from '../bytes/hex.ts'
import type { NvidiaDevice } from './nvidiaDevice.ts'
import { malformed, refuse } from './refusals.ts'
import { FIELD } from './spdm.ts'

const PDI_BYTES = 8
const SWITCHED_GPUS = 8
/** A link that leads nowhere. */
const NOWHERE = '0'.repeat(2 * PDI_BYTES)
const ON = 0xaa

/**
 * That the devices are as they say of each other: no chip twice, all GPUs in one mode, and in a box with switches every
 * GPU names exactly these switches and every switch exactly these GPUs. Whether switches are named that are not there at all.
 */
export function verifyTopology(devices: readonly NvidiaDevice[]): { readonly switchesMissing: boolean } {
  const twice = devices.find(({ pdi }, i) => devices.findIndex((other) => other.pdi === pdi) !== i)
  if (twice) refuse('DEVICE_TWICE', { got: twice.pdi })
  const gpus = devices.filter(({ arch }) => arch !== 'LS10')
  const switches = devices.filter(({ arch }) => arch === 'LS10')
  const modes = [...new Set(gpus.map(modeOf))]
  if (modes.length > 1) refuse('TOPOLOGY_DIFFERS', { where: 'mode', got: modes.join(' and ') })
  if (modes[0] !== 'protected PCIe') {
    if (switches.length > 0) refuse('TOPOLOGY_DIFFERS', { where: 'mode', got: modes[0] ?? 'no GPU' })
    return { switchesMissing: false }
  }
  if (switches.length === 0) return { switchesMissing: true }
  for (const gpu of gpus) ensureSame(gpu, switchesOf(gpu), switches)
  for (const board of switches) ensureSame(board, gpusOf(board), gpus)
  return { switchesMissing: false }
}

function modeOf({ report }: NvidiaDevice): string {
  const [flag] = report.fields.get(FIELD.featureFlag) ?? []
  if (flag !== undefined) return ['single', 'several', 'protected PCIe'][flag] ?? malformed('vendor fields')
  return report.fields.get(FIELD.protectedPcie)?.[0] === ON ? 'protected PCIe' : 'single'
}

/** A GPU writes the switches at its links with their bytes in reverse. */
const switchesOf = ({ report }: NvidiaDevice): string[] =>
  pdisIn(report.fields.get(FIELD.pdi)).map((pdi) => pdi.match(/../g)!.reverse().join(''))

const gpusOf = ({ report }: NvidiaDevice): string[] =>
  pdisIn(report.fields.get(FIELD.switchGpus)?.subarray(0, PDI_BYTES * SWITCHED_GPUS))

function pdisIn(bytes: Uint8Array | undefined): string[] {
  if (bytes === undefined || bytes.length % PDI_BYTES !== 0) return malformed('vendor fields')
  return (
    toHex(bytes)
      .match(/.{16}/g)
      ?.filter((pdi) => pdi !== NOWHERE) ?? []
  )
}

function ensureSame({ pdi }: NvidiaDevice, named: readonly string[], attested: readonly NvidiaDevice[]): void {
  const [names, seen] = [new Set(named), attested.map((device) => device.pdi)]
  if (names.size !== seen.length || seen.some((one) => !names.has(one)))
    refuse('TOPOLOGY_DIFFERS', { where: `links of ${pdi}`, got: names.size, expected: seen.length })
}
