/* Runs one kernel over its grid on this thread. Arguments are integers and pointers only, eight bytes each. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

typedef unsigned long long u64;
typedef void (*kernel_t)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

int emulated_thread, emulated_block, emulated_block_y, emulated_blocks, emulated_threads;

static const int STACK = 32 * 1024;
static const int MOST = 1024;
static ucontext_t scheduler, fibres[MOST];
static char *stacks;
static bool ended[MOST];
static kernel_t running;
static const u64 *given;

void emulated_barrier() {
  const int self = emulated_thread;
  swapcontext(&fibres[self], &scheduler);
  emulated_thread = self;
}

static void run_thread() {
  const u64 *a = given;
  running(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
  ended[emulated_thread] = true;
}

static void run_block() {
  for (int thread = 0; thread < emulated_threads; thread++) {
    getcontext(&fibres[thread]);
    fibres[thread].uc_stack.ss_sp = stacks + (size_t)thread * STACK;
    fibres[thread].uc_stack.ss_size = STACK;
    fibres[thread].uc_link = &scheduler;
    makecontext(&fibres[thread], run_thread, 0);
    ended[thread] = false;
  }
  for (bool left = true; left;) {
    left = false;
    for (int thread = 0; thread < emulated_threads; thread++) {
      if (ended[thread]) continue;
      emulated_thread = thread;
      swapcontext(&scheduler, &fibres[thread]);
      left |= !ended[thread];
    }
  }
}

extern "C" {
/* Null for a kernel that does not exist. */
void *emulate_find(const char *name) {
  Dl_info info;
  dladdr((void *)&emulate_find, &info);
  return dlsym(dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD), name);
}

void emulate_launch(void *kernel, int blocks, int matrices, int threads, const u64 *arguments) {
  if (!stacks) stacks = (char *)malloc((size_t)STACK * MOST);
  running = (kernel_t)kernel;
  given = arguments;
  emulated_blocks = blocks;
  emulated_threads = threads;
  for (emulated_block_y = 0; emulated_block_y < matrices; emulated_block_y++)
    for (emulated_block = 0; emulated_block < blocks; emulated_block++) run_block();
}

void *emulate_allocate(u64 bytes) {
  void *memory = aligned_alloc(256, (bytes + 255) / 256 * 256);
  memset(memory, 0xa5, bytes); /* fresh device memory holds anything */
  return memory;
}
void emulate_free(void *memory) { free(memory); }
void emulate_copy(void *to, const void *from, u64 bytes) { memcpy(to, from, bytes); }
}
