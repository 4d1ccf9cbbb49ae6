import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drillSuite } from '../../../../test/suites/drillSuite.ts'
import { keyNamed } from '../../../../test/support/chainWorld.ts'
import { drillResult, nodesBelow } from './drillResult.ts'
import { treeRoot } from './resultTree.ts'

describe('whatever two others do', () => drillSuite(2, 14n))

test('property: the nodes below a place lead to the node above them', () => {
  const chunks = Array.from({ length: 32 }, (_, i) => Uint8Array.of(i))
  const result = drillResult(keyNamed('ada'), chunks, 65_535)
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5 }), fc.nat(31), (depth, place) => {
      const at = place % 2 ** depth
      const levels = Math.min(4, 5 - depth)
      const below = nodesBelow(result, depth + levels, at * 2 ** levels, 2 ** levels)
      const [above] = nodesBelow(result, depth, at, 1)
      return treeRoot(below).join() === above!.join()
    }),
  )
  expect(nodesBelow(result, 0, 0, 1)[0]).toEqual(result.shown.resultRoot)
})
