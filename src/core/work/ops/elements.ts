import { elementwise, floatOf, type WorkOp } from './shapes.ts'

/** Ops over elements that know nothing of their neighbours (W2.3, W2.4). */
export const elements = {
  add: elementwise('add', 2, (kernels, [a, b, out], count) => kernels.add(a!, b!, out!, count)),
  scale: elementwise('scale', 1, (kernels, [x, out], count, { factor = 0 }) =>
    kernels.scale(x!, out!, count, floatOf(factor)),
  ),
  gelu: elementwise('gelu', 1, (kernels, [x, out], count) => kernels.gelu(x!, out!, count)),
  geluBackward: elementwise('geluBackward', 2, (kernels, [x, dy, out], count) =>
    kernels.geluBackward(x!, dy!, out!, count),
  ),
  relu: elementwise('relu', 1, (kernels, [x, out], count) => kernels.relu(x!, out!, count)),
  reluBackward: elementwise('reluBackward', 2, (kernels, [x, dy, out], count) =>
    kernels.reluBackward(x!, dy!, out!, count),
  ),
  siluProduct: elementwise('siluProduct', 2, (kernels, [gate, up, out], count) =>
    kernels.siluProduct(gate!, up!, out!, count),
  ),
  siluProductBackwardGate: elementwise('siluProductBackwardGate', 3, (kernels, [gate, up, dy, out], count) =>
    kernels.siluProductBackwardGate(gate!, up!, dy!, out!, count),
  ),
  siluProductBackwardUp: elementwise('siluProductBackwardUp', 2, (kernels, [gate, dy, out], count) =>
    kernels.siluProductBackwardUp(gate!, dy!, out!, count),
  ),
} as const satisfies Record<string, WorkOp>
