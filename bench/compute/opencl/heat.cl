#define FLOW 0.2f

kernel void advance(global const float* restrict from, global float* restrict to, int n) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= n || y >= n) return;
  const int i = y * n + x;
  const bool rim = x == 0 || y == 0 || x == n - 1 || y == n - 1;
  to[i] = rim ? from[i] : from[i] + FLOW * (from[i - 1] + from[i + 1] + from[i - n] + from[i + n] - 4 * from[i]);
}
