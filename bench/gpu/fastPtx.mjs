#!/usr/bin/env node
// The kernels of exact work as a fast-math build has them, for a comparison of speed: node bench/gpu/fastPtx.mjs FILE
// What nvcc calls -use_fast_math: contraction, flush to zero, approximate division and roots. Never shipped.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const [out] = process.argv.slice(2)
const flags = [
  '-x',
  'cuda',
  '--cuda-device-only',
  '-nocudainc',
  '-nocudalib',
  '-Wno-unknown-cuda-version',
  '-std=c++17',
]
const fast = ['-O3', '-ffp-contract=fast', '-fgpu-flush-denormals-to-zero', '-fgpu-approx-transcendentals']
const llvm = ['-nvptx-prec-divf32=0', '-nvptx-prec-sqrtf32=0'].flatMap((flag) => ['-mllvm', flag])
const source = fileURLToPath(new URL('../../kernels/cuda/work.cu', import.meta.url))
const target = ['-D__nvvm_sqrt_rn_f=__nvvm_sqrt_approx_ftz_f', '--cuda-gpu-arch=sm_80', '--cuda-feature=+ptx70', '-S']
const { status } = spawnSync('clang-19', [...flags, ...fast, ...llvm, ...target, source, '-o', out], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
