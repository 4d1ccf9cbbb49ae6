import type { Inventory } from '../../core/inventory/inventory.ts'

type Details = Inventory['devices'][number]['details']

const VIRTUAL = new Map([
  ['passed through', 'handed through to a virtual machine'],
  ['vGPU', 'a vGPU: a share of a card that a hypervisor gives out'],
  ['host of vGPUs', 'a host of vGPUs: shares of it are given to virtual machines'],
])

const ECC = new Map([
  ['on', 'ECC on'],
  ['off', 'ECC off: memory errors go unnoticed'],
])

/** How a card is set up, in words; null where the box said nothing of it. What the driver says, so a claim. */
export function cardState({ mig, eccMode, virtualization, uuid }: Details): string | null {
  const isSlice = mig === true || (typeof uuid === 'string' && uuid.startsWith('MIG-'))
  const said = [
    ...(isSlice ? ['MIG is on: this is a slice of a card'] : []),
    ...(mig === false && !isSlice ? ['MIG off'] : []),
    VIRTUAL.get(String(virtualization)),
    ECC.get(String(eccMode)),
  ].filter((text) => text !== undefined)
  return said.length === 0 ? null : `${said.join(', ')} (claimed)`
}
