#define RATE 0.02f
#define VOLATILITY 0.30f

float normal_cdf(float x) { return 0.5f * erfc(-x * 0.70710678f); }

kernel void price_all(global const float* restrict stock, global const float* restrict strike,
                      global const float* restrict years, global float* restrict call, global float* restrict put,
                      int n) {
  const int i = get_global_id(0);
  if (i >= n) return;
  const float v = VOLATILITY * sqrt(years[i]);
  const float d1 = (log(stock[i] / strike[i]) + (RATE + VOLATILITY * VOLATILITY / 2) * years[i]) / v;
  const float discounted = strike[i] * exp(-RATE * years[i]);
  const float price = stock[i] * normal_cdf(d1) - discounted * normal_cdf(d1 - v);
  call[i] = price;
  put[i] = price - stock[i] + discounted;
}
