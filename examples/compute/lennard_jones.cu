// Molecular dynamics of a Lennard-Jones liquid in a periodic box, in its own units: V(r) = 4 (r^-12 - r^-6) up to r
// = 2.5, velocity Verlet. Neighbours are found through cells: sorted on the host every few steps, read by all threads.
//
//   trine cc examples/compute/lennard_jones.cu -o lennard_jones && ./lennard_jones [atoms a side]
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "support.h"

constexpr int kSteps = 200, kSortEvery = 10;
constexpr float kDensity = 0.8442f, kCutoff = 2.5f, kSkin = 0.3f, kDt = 0.004f;

struct Box {
  int atoms;
  float length;
  int cells;  // a side; each at least cutoff + skin wide
};

__host__ __device__ int cell_of(float x, Box box) {
  const int c = static_cast<int>(x / box.length * box.cells);
  return c < 0 ? 0 : c >= box.cells ? box.cells - 1 : c;
}
__host__ __device__ float nearest_image(float d, float length) { return d - length * rintf(d / length); }

// Force on atom i, and half of its potential energy in w.
__device__ float4 force_on(int i, const float4* position, const int* first, Box box) {
  const float4 p = position[i];
  const int cx = __float_as_int(p.w) % box.cells, cy = __float_as_int(p.w) / box.cells % box.cells,
            cz = __float_as_int(p.w) / (box.cells * box.cells);
  float4 f = {0, 0, 0, 0};
  for (int n = 0; n < 27; ++n) {
    const int x = (cx + n % 3 + box.cells - 1) % box.cells, y = (cy + n / 3 % 3 + box.cells - 1) % box.cells,
              z = (cz + n / 9 + box.cells - 1) % box.cells, cell = (z * box.cells + y) * box.cells + x;
    for (int j = first[cell]; j < first[cell + 1]; ++j) {
      const float4 o = position[j];
      const float dx = nearest_image(p.x - o.x, box.length), dy = nearest_image(p.y - o.y, box.length),
                  dz = nearest_image(p.z - o.z, box.length), r2 = dx * dx + dy * dy + dz * dz;
      if (j == i || r2 >= kCutoff * kCutoff) continue;
      const float s2 = 1 / r2, s6 = s2 * s2 * s2, pull = 48 * s6 * (s6 - 0.5f) * s2;
      f.x += pull * dx, f.y += pull * dy, f.z += pull * dz;
      f.w += 2 * s6 * (s6 - 1);
    }
  }
  return f;
}

__global__ void forces(const float4* position, float4* force, const int* first, Box box) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < box.atoms) force[i] = force_on(i, position, first, box);
}

__global__ void drift(float4* position, float4* velocity, const float4* force, int atoms) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= atoms) return;
  float4 v = velocity[i], p = position[i];
  const float4 f = force[i];
  v.x += f.x * kDt / 2, v.y += f.y * kDt / 2, v.z += f.z * kDt / 2;
  p.x += v.x * kDt, p.y += v.y * kDt, p.z += v.z * kDt;
  velocity[i] = v, position[i] = p;
}

__global__ void kick(float4* velocity, const float4* force, int atoms) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= atoms) return;
  const float4 f = force[i];
  velocity[i].x += f.x * kDt / 2, velocity[i].y += f.y * kDt / 2, velocity[i].z += f.z * kDt / 2;
}

// Back into the box, in the order of cells; position.w holds the cell.
static void sort_atoms(std::vector<float4>& position, std::vector<float4>& velocity, std::vector<int>& first, Box box) {
  const auto cells = static_cast<size_t>(box.cells * box.cells * box.cells);
  std::vector<std::vector<int>> members(cells);
  for (int i = 0; i < box.atoms; ++i) {
    float4& p = position[i];
    for (float* x : {&p.x, &p.y, &p.z}) *x -= box.length * std::floor(*x / box.length);
    members[(cell_of(p.z, box) * box.cells + cell_of(p.y, box)) * box.cells + cell_of(p.x, box)].push_back(i);
  }
  std::vector<float4> p, v;
  first.assign(1, 0);
  for (size_t c = 0; c < cells; ++c) {
    for (int i : members[c]) {
      const int id = static_cast<int>(c);
      p.push_back(position[i]), v.push_back(velocity[i]);
      std::memcpy(&p.back().w, &id, sizeof id);
    }
    first.push_back(static_cast<int>(p.size()));
  }
  position.swap(p), velocity.swap(v);
}

int main(int argc, char** argv) {
  const int side = options_of(argc, argv, 20, 10).size, atoms = side * side * side;
  const float length = std::cbrt(atoms / kDensity);
  const Box box{atoms, length, static_cast<int>(length / (kCutoff + kSkin))};
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 1.2f);
  std::vector<float4> position(atoms), velocity(atoms);
  for (int i = 0; i < atoms; ++i) {
    const float gap = length / side;
    position[i] = {(i % side + 0.5f) * gap, (i / side % side + 0.5f) * gap, (i / side / side + 0.5f) * gap, 0};
    velocity[i] = {normal(random), normal(random), normal(random), 0};
  }
  if (box.cells < 3) return std::fprintf(stderr, "%d atoms; accepted are 7 a side or more\n", atoms), 2;
  std::vector<int> first;
  sort_atoms(position, velocity, first, box);
  DeviceArray<float4> p(position), v(velocity), f(position.size());
  DeviceArray<int> cells(first);
  const unsigned blocks = blocks_for(atoms, 128);
  const auto energy = [&] {
    double sum = 0;
    for (const float4& a : f.to_host()) sum += a.w;
    for (const float4& a : v.to_host()) sum += 0.5 * (a.x * a.x + a.y * a.y + a.z * a.z);
    return sum / atoms;
  };
  forces<<<blocks, 128>>>(p.get(), f.get(), cells.get(), box);
  const double before = energy();
  for (int step = 0; step < kSteps; ++step) {
    drift<<<blocks, 128>>>(p.get(), v.get(), f.get(), atoms);
    if (step % kSortEvery == kSortEvery - 1) {
      position = p.to_host(), velocity = v.to_host();
      sort_atoms(position, velocity, first, box);
      CHECK(cudaMemcpy(p.get(), position.data(), p.bytes(), cudaMemcpyHostToDevice));
      CHECK(cudaMemcpy(v.get(), velocity.data(), v.bytes(), cudaMemcpyHostToDevice));
      CHECK(cudaMemcpy(cells.get(), first.data(), cells.bytes(), cudaMemcpyHostToDevice));
    }
    forces<<<blocks, 128>>>(p.get(), f.get(), cells.get(), box);
    kick<<<blocks, 128>>>(v.get(), f.get(), atoms);
  }
  CHECK(cudaGetLastError());
  const double after = energy();
  const float ms = milliseconds([&] { forces<<<blocks, 128>>>(p.get(), f.get(), cells.get(), box); });
  std::printf("%d atoms, %d steps: energy of an atom %.4f -> %.4f; forces %.3f ms\n", atoms, kSteps, before, after, ms);
  return std::fabs(after - before) < 0.02 ? 0 : 1;
}
