// How fast one card walks a processor's lanes (docs/spec/proof-of-gpu.md §12), one thread per lane, its table in shared memory:
// what it would take to pose as the cores of a CPU (docs/adr/0032). Nothing is checked.
//   nvcc -O3 -arch=sm_90 -cudart static -o lookupLane bench/gpu/lookupLane.cu && ./lookupLane
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int WORDS = 4096;
constexpr uint32_t MASK = 0x7ff8;

__device__ __forceinline__ uint64_t turned(uint64_t x) { return x << 21 | x >> 43; }

__global__ void walk(const uint64_t *tables, uint64_t *out, int rounds) {
  __shared__ uint64_t table[WORDS];
  for (int i = threadIdx.x; i < WORDS; i += blockDim.x) table[i] = tables[blockIdx.x * WORDS + i];
  __syncthreads();
  if (threadIdx.x > 0) return;
  uint64_t s[8], found[8];
  for (int w = 0; w < 8; w++) s[w] = 0x6a09e667f3bcc908ull * (w + 1) + blockIdx.x;
  for (int i = 0; i < rounds; i++) {
#pragma unroll
    for (int w = 0; w < 8; w++) found[w] = *(const uint64_t *)((const char *)table + ((uint32_t)s[w] & MASK));
#pragma unroll
    for (int w = 0; w < 8; w++) s[w] = turned(s[w]) + found[(w + 1) & 7];
  }
  for (int w = 0; w < 8; w++) out[8 * blockIdx.x + w] = s[w];
}

int main() {
  const int most = 1024, rounds = 1 << 20;
  std::vector<uint64_t> host(size_t(most) * WORDS);
  uint64_t x = 1;
  for (auto &word : host) word = (x = x * 6364136223846793005ull + 1442695040888963407ull) ^ x >> 29;
  uint64_t *tables, *out;
  cudaMalloc(&tables, host.size() * 8);
  cudaMalloc(&out, most * 64);
  cudaMemcpy(tables, host.data(), host.size() * 8, cudaMemcpyHostToDevice);
  cudaDeviceProp card;
  cudaGetDeviceProperties(&card, 0);
  cudaEvent_t from, to;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  for (int lanes : {1, 32, 256, most}) {
    float best = 1e30f;
    for (int again = 0; again < 3; again++) {
      cudaEventRecord(from);
      walk<<<lanes, 32>>>(tables, out, rounds);
      cudaEventRecord(to);
      cudaEventSynchronize(to);
      float ms;
      cudaEventElapsedTime(&ms, from, to);
      if (ms < best) best = ms;
    }
    printf("%s: %d lanes at once, %.2f GB/s each (%s)\n", card.name, lanes, rounds * 64e-6 / best, cudaGetErrorString(cudaGetLastError()));
  }
}
