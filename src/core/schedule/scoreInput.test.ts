import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Judgement } from '../certificate/judgeRun.ts'
import type { HostPart } from '../inventory/hostReport.ts'
import { claimed as said } from '../params/provenance.ts'
import { claimed, measured } from '../score/fact.ts'
import { hostClaims } from '../score/hostClaims.ts'
import { scoreInput } from './scoreInput.ts'

const SAID = {
  cpuWhetstoneMips: 1,
  memoryLimitBytes: 2,
  ramBytesPerSec: 3,
  diskFreeBytes: 4,
  diskWriteBytesPerSec: 5,
}

test('attack 73, property: whatever a box says of itself is a claim, and what is no size is left out', () => {
  const facts = { cpuWhetstoneMips: 1, ramBytes: 2, ramBandwidth: 3, diskBytes: 4, diskBandwidth: 5 }
  const all = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, claimed(value)]))
  expect(hostClaims(said({ ...SAID, registered: true, allocated: true, cpuHashing: 9 }))).toEqual(all)
  const odd = fc.oneof(fc.string(), fc.boolean(), fc.constantFrom(0, -1, Number.NaN, Number.POSITIVE_INFINITY))
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(SAID)), odd, (name, value) => {
      const left = Object.values(facts).filter((fact) => fact !== SAID[name as keyof typeof SAID])
      expect(Object.values(hostClaims(said({ ...SAID, [name]: value })))).toEqual(left.map(claimed))
    }),
  )
})

test('attacks 75 and 76: what a host part showed goes before what the box says, and a wrong mark leaves nothing', () => {
  const judgement = { outcome: 'accepted', devices: [], scaling: null } as unknown as Judgement
  const source = { judgement, registered: true, allocated: false, claims: said(SAID) }
  const shown: HostPart = {
    part: 'disk',
    source: 'measured',
    bytesPerSec: 7,
    lanes: 16,
    of: 16,
    storedBytes: 1,
    pastCache: true,
    inWindow: false,
    problem: null,
  }
  const disk = (part: HostPart) => scoreInput({ ...source, host: [part] }).host?.diskBandwidth
  expect(disk(shown)).toEqual(measured(7))
  const nothing = { ...shown, source: null, bytesPerSec: 0 }
  const problem = (code: string) => ({ code, text: '', nextStep: '' })
  expect(disk({ ...nothing, problem: problem('HOST_WRONG_MARK') })).toEqual(measured(0))
  expect(disk({ ...nothing, problem: problem('HOST_SILENT') })).toEqual(claimed(5))
})
