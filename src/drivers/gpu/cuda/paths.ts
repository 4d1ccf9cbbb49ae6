import { concatBytes, u32le, u64le } from '../../../core/bytes/bytes.ts'
import type { CardTools } from './cardTools.ts'
import type { Handle } from './loadLibcuda.ts'

/** ts_path_request of paths.cu: a unit of fingerprints (or none), the nodes above it, and where the path goes. */
export interface PathRequest {
  readonly prints: Handle
  readonly firstLeaf: number
  readonly nodes: Handle
  readonly unit: number
  readonly inUnit: number
  readonly count: number
  readonly index: number
}

const REQUEST_BYTES = 56
/** Openings of the largest class need 8 MB of scratch each. */
const SCRATCH_BYTES = 256 * 2 ** 20

const depthOf = ({ unit, count }: PathRequest): number => (unit > 1 ? Math.log2(unit) : 0) + Math.log2(count)
const scratchOf = ({ unit, count }: PathRequest): number => 64 * (unit + count)

/** Paths of the requests one after the other, siblings from leaf to root. */
export function readPaths(tools: CardTools, requests: readonly PathRequest[]): Uint8Array {
  const parts: Uint8Array[] = []
  let batch: PathRequest[] = []
  let bytes = 0
  for (const request of requests) {
    if (bytes + scratchOf(request) > SCRATCH_BYTES) {
      parts.push(readBatch(tools, batch))
      batch = []
      bytes = 0
    }
    batch.push(request)
    bytes += scratchOf(request)
  }
  parts.push(readBatch(tools, batch))
  return concatBytes(...parts)
}

function readBatch({ api, buffers, kernels, stream, launch }: CardTools, requests: readonly PathRequest[]): Uint8Array {
  if (requests.length === 0) return new Uint8Array(0)
  const pathBytes = requests.reduce((sum, request) => sum + 32 * depthOf(request), 0)
  const scratchBytes = requests.reduce((sum, request) => sum + scratchOf(request), 0)
  const table = REQUEST_BYTES * requests.length
  const pathsAt = Math.ceil(table / 256) * 256
  const scratchAt = pathsAt + Math.ceil(pathBytes / 256) * 256
  const base = buffers.take('scratch', scratchAt + scratchBytes)
  let path = base + BigInt(pathsAt)
  let scratch = base + BigInt(scratchAt)
  const encoded = requests.map((request) => {
    const bytes = encode(request, scratch, path)
    path += BigInt(32 * depthOf(request))
    scratch += BigInt(scratchOf(request))
    return bytes
  })
  api.upload(base, concatBytes(...encoded))
  launch(kernels.get('paths', 'ts_paths'), [requests.length, 1], 256, [base])
  api.synchronize(stream)
  return api.download(base + BigInt(pathsAt), pathBytes)
}

const encode = (request: PathRequest, scratch: Handle, path: Handle): Uint8Array =>
  concatBytes(
    u64le(request.prints),
    u64le(request.firstLeaf),
    u64le(request.nodes),
    u64le(scratch),
    u64le(path),
    u32le(request.unit),
    u32le(request.inUnit),
    u32le(request.count),
    u32le(request.index),
  )
