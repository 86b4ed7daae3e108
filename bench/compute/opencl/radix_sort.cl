// Each item counts the digits of a stretch of its own, and moves its keys in order. counts: by digit, then by item.
#define DIGITS 16

kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1))) void count(global const uint* restrict keys, int n,
                                                                       int shift, global int* restrict counts) {
  const int items = get_global_size(0), item = get_global_id(0), each = (n + items - 1) / items;
  int mine[DIGITS];
  for (int d = 0; d < DIGITS; ++d) mine[d] = 0;
  for (int i = item * each; i < min(n, (item + 1) * each); ++i) ++mine[keys[i] >> shift & (DIGITS - 1)];
  for (int d = 0; d < DIGITS; ++d) counts[d * items + item] = mine[d];
}

kernel void places(global int* restrict counts, int count) {
  int place = 0;
  for (int i = 0; i < count; ++i) {
    const int own = counts[i];
    counts[i] = place, place += own;
  }
}

kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1))) void move(global const uint* restrict keys,
                                                                      global uint* restrict to, int n, int shift,
                                                                      global const int* restrict first) {
  const int items = get_global_size(0), item = get_global_id(0), each = (n + items - 1) / items;
  int next[DIGITS];
  for (int d = 0; d < DIGITS; ++d) next[d] = first[d * items + item];
  for (int i = item * each; i < min(n, (item + 1) * each); ++i) {
    const uint key = keys[i];
    to[next[key >> shift & (DIGITS - 1)]++] = key;
  }
}
