#define SIZE 1024
#define THREADS (SIZE / 2)

kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void transform(global const float2* restrict in,
                                                                           global float2* restrict out) {
  local float2 a[SIZE], b[SIZE], turns[THREADS];
  const int i = get_local_id(0);
  float cosine;
  const float sine = sincos(-M_PI_F * i / THREADS, &cosine);
  turns[i] = (float2)(cosine, sine);
  global const float2* signal = in + get_group_id(0) * SIZE;
  a[i] = signal[i], a[i + THREADS] = signal[i + THREADS];
  barrier(CLK_LOCAL_MEM_FENCE);
  local float2 *from = a, *to = b;
  for (int span = 1; span < SIZE; span *= 2) {
    const int k = i & (span - 1);
    const float2 x = from[i], z = from[i + THREADS], turn = turns[k * (THREADS / span)];
    const float2 y = (float2)(z.x * turn.x - z.y * turn.y, z.x * turn.y + z.y * turn.x);
    const int at = ((i - k) << 1) + k;
    to[at] = x + y, to[at + span] = x - y;
    barrier(CLK_LOCAL_MEM_FENCE);
    local float2* other = from;
    from = to, to = other;
  }
  global float2* result = out + get_group_id(0) * SIZE;
  result[i] = from[i], result[i + THREADS] = from[i + THREADS];
}
