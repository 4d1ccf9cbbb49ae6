import { textMetrics } from '../../drivers/system/textMetrics.ts'
import { residentBytes } from '../../drivers/system/watchProcess.ts'
import type { ChainNode } from '../../ports/chainNode.ts'

const GAUGES = [
  ['touchstone_node_slot_count', 'Slot by the clock.', ({ slot }: Seen) => slot],
  ['touchstone_node_head_blocks', 'Height of the tip to build on.', ({ head }: Seen) => head.height],
  ['touchstone_node_final_blocks', 'Height of the last final block.', ({ final }: Seen) => final.height],
  [
    'touchstone_node_final_lag_slots',
    'Slots since the last final block.',
    ({ slot, final }: Seen) => slot - final.slot,
  ],
  ['touchstone_node_peers_count', 'Nodes of this chain that are connected.', ({ peers }: Seen) => peers],
  ['touchstone_node_pooled_count', 'Transactions that wait for a block.', ({ pooled }: Seen) => pooled],
  ['touchstone_node_syncing_count', '1 while blocks are being fetched.', ({ isSyncing }: Seen) => Number(isSyncing)],
  [
    'touchstone_node_halted_count',
    '1 if two final blocks exclude each other.',
    ({ isHalted }: Seen) => Number(isHalted),
  ],
  ['touchstone_resident_bytes', 'Memory of the process.', residentBytes],
] as const

type Seen = ReturnType<ChainNode['status']> & Pick<ChainNode, 'head' | 'final'>

/** How a node does, as Prometheus text, at the moment it is asked. */
export function nodeMetrics(node: ChainNode): () => string {
  const metrics = textMetrics(GAUGES.map(([name, help]) => ({ name, help, type: 'gauge' })))
  return () => {
    const seen: Seen = { ...node.status(), head: node.head, final: node.final }
    for (const [name, , value] of GAUGES) metrics.set(name, value(seen))
    return metrics.text()
  }
}
