/* The compiler turns loops into these two; there is no library to bring them. */
typedef unsigned long size_t;

void *memset(void *to, int value, size_t count) {
  unsigned char *out = to;
  for (size_t i = 0; i < count; i++) out[i] = (unsigned char)value;
  return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  unsigned char *out = to;
  const unsigned char *in = from;
  for (size_t i = 0; i < count; i++) out[i] = in[i];
  return to;
}
