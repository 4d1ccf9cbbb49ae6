// How fast one card walks chains of SHA-512, one thread per chain, which is what it would take to pose as the cores of a CPU
// (docs/adr/0011). It has every advantage: the message schedule is known beforehand and
// read from memory, nothing is checked, and the chains differ only in where they start.
//   nvcc -O3 -arch=sm_90 -cudart static -o hashLane bench/gpu/hashLane.cu && ./hashLane
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int BLOCKS = 2048;  // message blocks of 128 bytes: one block of 256 KiB
constexpr int ROUNDS = 80;

__device__ __forceinline__ uint64_t rotr(uint64_t x, int n) { return (x >> n) | (x << (64 - n)); }

__device__ __forceinline__ void compress(uint64_t s[8], const uint64_t *kw) {
  uint64_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#pragma unroll
  for (int t = 0; t < ROUNDS; t++) {
    // All that does not wait for e is added first.
    const uint64_t early = h + kw[t];
    const uint64_t t1 = early + ((e & f) ^ (~e & g)) + (rotr(e, 14) ^ rotr(e, 18) ^ rotr(e, 41));
    const uint64_t t2 = (rotr(a, 28) ^ rotr(a, 34) ^ rotr(a, 39)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
  }
  s[0] += a; s[1] += b; s[2] += c; s[3] += d; s[4] += e; s[5] += f; s[6] += g; s[7] += h;
}

__global__ void walk(const uint64_t *kw, uint64_t *out, int steps) {
  const int lane = blockIdx.x * blockDim.x + threadIdx.x;
  uint64_t s[8];
  for (int i = 0; i < 8; i++) s[i] = 0x6a09e667f3bcc908ull * (i + 1) + lane;
  __shared__ uint64_t near[2][ROUNDS];
  for (int step = 0; step < steps; step++)
    for (int block = 0; block < BLOCKS; block++) {
      // The next schedule is fetched while this one is used; the lanes of a warp share it.
      for (int t = threadIdx.x; t < ROUNDS; t += blockDim.x) near[block & 1][t] = kw[block * ROUNDS + t];
      __syncwarp();
      compress(s, near[block & 1]);
    }
  for (int i = 0; i < 8; i++) out[8 * lane + i] = s[i];
}

int main() {
  std::vector<uint64_t> host(BLOCKS * ROUNDS);
  uint64_t x = 1;
  for (auto &word : host) word = (x = x * 6364136223846793005ull + 1442695040888963407ull);
  uint64_t *kw, *out;
  cudaMalloc(&kw, host.size() * 8);
  cudaMalloc(&out, 1 << 20);
  cudaMemcpy(kw, host.data(), host.size() * 8, cudaMemcpyHostToDevice);
  cudaDeviceProp card;
  cudaGetDeviceProperties(&card, 0);
  cudaEvent_t from, to;
  cudaEventCreate(&from);
  cudaEventCreate(&to);
  for (int lanes : {1, 32, 64, 256, 1024}) {
    const int steps = 64;
    float best = 1e30f;
    for (int again = 0; again < 3; again++) {
      cudaEventRecord(from);
      if (lanes < 32) walk<<<1, lanes>>>(kw, out, steps);
      else walk<<<lanes / 32, 32>>>(kw, out, steps);
      cudaEventRecord(to);
      cudaEventSynchronize(to);
      float ms;
      cudaEventElapsedTime(&ms, from, to);
      if (ms < best) best = ms;
    }
    const double bytes = double(steps) * BLOCKS * 128;
    printf("%s: %d chains at once, %.1f MB/s each (%s)\n", card.name, lanes, bytes / best / 1e3, cudaGetErrorString(cudaGetLastError()));
  }
}
