#define DAYS 64
#define STOCK 100.0f
#define STRIKE 100.0f
#define RATE 0.03f
#define VOLATILITY 0.25f

uint4 philox(uint c0, uint c1) {
  uint4 c = (uint4)(c0, c1, 0, 0);
  uint k0 = 0x2545f491u, k1 = 0x9e3779b9u;
  for (int round = 0; round < 10; ++round, k0 += 0x9e3779b9u, k1 += 0xbb67ae85u)
    c = (uint4)(mul_hi(0xcd9e8d57u, c.z) ^ c.y ^ k0, 0xcd9e8d57u * c.z, mul_hi(0xd2511f53u, c.x) ^ c.w ^ k1,
                0xd2511f53u * c.x);
  return c;
}

float uniform_of(uint w) { return (w + 0.5f) * 2.3283064e-10f; }

float4 normal4(uint4 bits) {
  const float r0 = sqrt(-2 * log(uniform_of(bits.x))), r1 = sqrt(-2 * log(uniform_of(bits.z)));
  const float a0 = 6.2831853f * uniform_of(bits.y), a1 = 6.2831853f * uniform_of(bits.w);
  return (float4)(r0 * cos(a0), r0 * sin(a0), r1 * cos(a1), r1 * sin(a1));
}

kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1))) void simulate(global double* restrict sums) {
  local double shared[BLOCK_X];
  const uint path = get_global_id(0);
  const int lane = get_local_id(0);
  const float dt = 1.0f / DAYS, drift = (RATE - VOLATILITY * VOLATILITY / 2) * dt, size = VOLATILITY * sqrt(dt);
  float log_price = 0, sum = 0;
  for (int day = 0; day < DAYS; day += 4) {
    const float4 z = normal4(philox(path, day));
    sum += exp(log_price += drift + size * z.x);
    sum += exp(log_price += drift + size * z.y);
    sum += exp(log_price += drift + size * z.z);
    sum += exp(log_price += drift + size * z.w);
  }
  shared[lane] = fmax(STOCK * sum / DAYS - STRIKE, 0.0f) * exp(-RATE);
  for (int half_size = BLOCK_X / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < half_size) shared[lane] += shared[lane + half_size];
  }
  if (lane == 0) sums[get_group_id(0)] = shared[0];
}
