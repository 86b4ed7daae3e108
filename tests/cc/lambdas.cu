// Functions as arguments of kernels: lambdas of the device and of both sides, function objects, pointers taken from the
// device; managed variables; classes with virtual functions made on the device.
#include <cstdio>
#include <functional>
#include <vector>

template <class F>
__global__ void for_each(int n, F f) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}

template <class F>
void run(int n, F f) {
  for_each<<<(n + 95) / 96, 96>>>(n, f);
}

template <class T>
struct Axpy {
  T a;
  const T* x;
  T* y;
  __host__ __device__ void operator()(int i) const { y[i] += a * x[i]; }
};

typedef int (*Function)(int);
__device__ int square(int v) { return v * v; }
__device__ Function square_pointer = square;
__global__ void apply(int* x, int n, Function f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = f(x[i]);
}

__managed__ int total = 0;

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Disc : Shape {
  float r;
  __device__ Disc(float radius) : r(radius) {}
  __device__ float area() const override { return 3 * r * r; }
};
struct Box : Shape {
  float a, b;
  __device__ Box(float x, float y) : a(x), b(y) {}
  __device__ float area() const override { return a * b; }
};
__global__ void make(Shape** shapes, int n) {
  const int i = threadIdx.x;
  if (i < n) shapes[i] = i % 2 ? static_cast<Shape*>(new Disc(i)) : new Box(i, 2);
}
__global__ void measure(Shape** shapes, float* areas) { areas[threadIdx.x] = shapes[threadIdx.x]->area(); }
__global__ void drop(Shape** shapes) { delete shapes[threadIdx.x]; }

int failed(const char* what) {
  std::printf("failed: %s\n", what);
  return 1;
}

int main() {
  const int sizes[] = {1, 31, 32, 33, 96, 256, 1024, 100000};
  for (const int n : sizes) {
    int* x;
    cudaMallocManaged(&x, n * sizeof(int));
    const int add = 7;
    int table[3] = {1, 10, 100};
    run(n, [=] __device__(int i) { x[i] = i + add + table[i % 3]; });
    auto both = [x] __host__ __device__(int i) { x[i] = 2 * x[i] + 1; };
    run(n, both);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i) both(i);
    for (int i = 0; i < n; ++i)
      if (x[i] != 4 * (i + add + table[i % 3]) + 3) return failed("lambdas");

    Function f;
    cudaMemcpyFromSymbol(&f, square_pointer, sizeof f);
    run(n, [=] __device__(int i) { x[i] = i % 1000; });
    apply<<<(n + 255) / 256, 256>>>(x, n, f);
    total = 5;
    run(n, [x] __device__(int i) { atomicAdd(&total, x[i] % 3); });
    cudaDeviceSynchronize();
    int sum = 5;
    for (int i = 0; i < n; ++i) {
      const int v = i % 1000;
      if (x[i] != v * v) return failed("function pointers");
      sum += v * v % 3;
    }
    if (total != sum) return failed("managed");
    cudaFree(x);
  }

  double *x, *y;
  cudaMallocManaged(&x, 1000 * sizeof(double));
  cudaMallocManaged(&y, 1000 * sizeof(double));
  for (int i = 0; i < 1000; ++i) x[i] = i, y[i] = 1;
  run(1000, Axpy<double>{0.5, x, y});
  cudaDeviceSynchronize();
  for (int i = 0; i < 1000; ++i)
    if (y[i] != 1 + 0.5 * i) return failed("function objects");

  Shape** shapes;
  float* areas;
  cudaMalloc(&shapes, 64 * sizeof(Shape*));
  cudaMallocManaged(&areas, 64 * sizeof(float));
  make<<<1, 64>>>(shapes, 64);
  measure<<<1, 64>>>(shapes, areas);
  drop<<<1, 64>>>(shapes);
  if (cudaDeviceSynchronize() != cudaSuccess) return failed("virtual functions: a kernel");
  for (int i = 0; i < 64; ++i)
    if (areas[i] != (i % 2 ? 3.0f * i * i : 2.0f * i)) return failed("virtual functions");
  std::printf("passed\n");
}
