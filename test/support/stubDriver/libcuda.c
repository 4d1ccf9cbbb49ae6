/*
 * Stands in for NVIDIA's driver library: two cards that accept every call and compute nothing. STUB_CUDA names the calls
 * that fail and with which status, as in "cuInit=803 cuModuleLoadData=222"; what is not here is missing, as in an old
 * driver.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long u64;

static int status(const char *call) {
  const char *at = getenv("STUB_CUDA");
  const size_t length = strlen(call);
  while (at && (at = strstr(at, call))) {
    if (at[length] == '=') return atoi(at + length + 1);
    at += length;
  }
  return 0;
}

#define TELL(call, ...)            \
  do {                             \
    const int found = status(call); \
    if (found) return found;       \
    __VA_ARGS__;                   \
    return 0;                      \
  } while (0)

static u64 handle = 4096;

int cuInit(unsigned flags) { TELL("cuInit", (void)flags); }
int cuDriverGetVersion(int *version) { TELL("cuDriverGetVersion", *version = 13000); }
int cuGetErrorName(int code, const char **name) {
  *name = code == 46 ? "CUDA_ERROR_DEVICE_UNAVAILABLE" : "CUDA_ERROR_STUB";
  return 0;
}
int cuDeviceGetCount(int *count) {
  const int cards = status("cards");
  TELL("cuDeviceGetCount", *count = cards ? cards : 1);
}
int cuDeviceGet(int *device, int ordinal) { TELL("cuDeviceGet", *device = ordinal); }
int cuDeviceGetName(char *name, int size, int device) {
  TELL("cuDeviceGetName", snprintf(name, size, "NVIDIA Stub %d", device));
}
int cuDeviceGetUuid(unsigned char *uuid, int device) { TELL("cuDeviceGetUuid", memset(uuid, device, 16)); }
int cuDeviceGetPCIBusId(char *id, int size, int device) {
  TELL("cuDeviceGetPCIBusId", snprintf(id, size, "ffff:%02x:00.0", device));
}
int cuDeviceTotalMem_v2(u64 *bytes, int device) { TELL("cuDeviceTotalMem_v2", (void)device, *bytes = 8ull << 30); }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  TELL("cuDeviceGetAttribute", (void)device, *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 100000);
}
int cuDeviceCanAccessPeer(int *can, int device, int other) {
  TELL("cuDeviceCanAccessPeer", (void)device, (void)other, *can = !status("apart"));
}
int cuDevicePrimaryCtxRetain(u64 *context, int device) {
  TELL("cuDevicePrimaryCtxRetain", (void)device, *context = handle += 256);
}
int cuDevicePrimaryCtxRelease_v2(int device) { TELL("cuDevicePrimaryCtxRelease_v2", (void)device); }
int cuCtxSetCurrent(u64 context) { TELL("cuCtxSetCurrent", (void)context); }
int cuMemGetInfo_v2(u64 *free_bytes, u64 *total) {
  TELL("cuMemGetInfo_v2", *free_bytes = 7ull << 30, *total = 8ull << 30);
}
int cuMemAlloc_v2(u64 *pointer, size_t bytes) { TELL("cuMemAlloc_v2", *pointer = handle += bytes + 256); }
int cuMemFree_v2(u64 pointer) { TELL("cuMemFree_v2", (void)pointer); }
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  TELL("cuMemHostAlloc", (void)flags, *pointer = calloc(1, bytes));
}
int cuMemFreeHost(void *pointer) { TELL("cuMemFreeHost", free(pointer)); }
int cuMemcpyAsync(u64 to, u64 from, size_t bytes, u64 stream) {
  TELL("cuMemcpyAsync", (void)to, (void)from, (void)bytes, (void)stream);
}
int cuModuleLoadData(u64 *module, const void *image) { TELL("cuModuleLoadData", (void)image, *module = handle += 256); }
int cuStreamCreate(u64 *stream, unsigned flags) { TELL("cuStreamCreate", (void)flags, *stream = handle += 256); }
int cuStreamDestroy_v2(u64 stream) { TELL("cuStreamDestroy_v2", (void)stream); }
int cuStreamSynchronize(u64 stream) { TELL("cuStreamSynchronize", (void)stream); }
int cuEventCreate(u64 *event, unsigned flags) { TELL("cuEventCreate", (void)flags, *event = handle += 256); }
int cuEventRecord(u64 event, u64 stream) { TELL("cuEventRecord", (void)event, (void)stream); }
int cuEventSynchronize(u64 event) { TELL("cuEventSynchronize", (void)event); }
int cuEventElapsedTime(float *milliseconds, u64 from, u64 to) {
  TELL("cuEventElapsedTime", (void)from, (void)to, *milliseconds = 1);
}
int cuEventDestroy_v2(u64 event) { TELL("cuEventDestroy_v2", (void)event); }
