import { expect, test } from 'vitest'
import { claimed } from '../../core/params/provenance.ts'
import { cardState } from './cardState.ts'

test.each([
  [{}, null],
  [{ mig: false, eccMode: 'on', virtualization: 'none' }, 'MIG off, ECC on (claimed)'],
  [{ mig: true, eccMode: 'on' }, 'MIG is on: this is a slice of a card, ECC on (claimed)'],
  [{ uuid: 'MIG-1d5b', mig: false }, 'MIG is on: this is a slice of a card (claimed)'],
  [{ virtualization: 'vGPU' }, 'a vGPU: a share of a card that a hypervisor gives out (claimed)'],
  [
    { virtualization: 'passed through', eccMode: 'off' },
    'handed through to a virtual machine, ECC off: memory errors go unnoticed (claimed)',
  ],
  [{ mig: 'yes', eccMode: 'toString', virtualization: 'constructor' }, null],
])('%o is told as %o', (details, told) => {
  expect(cardState(claimed(details))).toBe(told)
})
