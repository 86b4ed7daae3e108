#include <cmath>

#include "cases.h"

namespace trine::bench_compute {

struct Box {
  int atoms;
  float length;
  int cells;
};
struct Atom {
  float x, y, z;
  int cell;
};

// Atoms of a liquid in the order of their cells; `first` tells where each cell begins.
static std::vector<Atom> liquid(std::mt19937& random, Box box, int side, std::vector<int>& first) {
  std::normal_distribution<float> jitter(0, 0.05f);
  const auto inside = [&](int i) {
    const float x = (static_cast<float>(i) + 0.5f) * box.length / static_cast<float>(side) + jitter(random);
    return std::fmin(std::fmax(x, 0.0f), 0.9999f * box.length);
  };
  const auto cell_of = [&](float x) { return static_cast<int>(x / box.length * static_cast<float>(box.cells)); };
  std::vector<std::vector<Atom>> members(static_cast<size_t>(box.cells * box.cells * box.cells));
  for (int i = 0; i < box.atoms; ++i) {
    Atom atom{inside(i % side), inside(i / side % side), inside(i / side / side), 0};
    atom.cell = (cell_of(atom.z) * box.cells + cell_of(atom.y)) * box.cells + cell_of(atom.x);
    members[static_cast<size_t>(atom.cell)].push_back(atom);
  }
  std::vector<Atom> atoms;
  first.assign(1, 0);
  for (const std::vector<Atom>& cell : members) {
    atoms.insert(atoms.end(), cell.begin(), cell.end());
    first.push_back(static_cast<int>(atoms.size()));
  }
  return atoms;
}

Case lennard_jones(std::mt19937& random, Sizes sizes) {
  const int side = sizes.of(20, 8), count = side * side * side;
  const float length = std::cbrt(static_cast<float>(count) / 0.8442f);
  const Box box{count, length, static_cast<int>(length / 2.8f)};
  std::vector<int> first;
  const std::vector<Atom> atoms = liquid(random, box, side, first);
  const ArrayIndex position{0}, force{1}, cells{2};
  return {
      .name = "lennard_jones",
      .size = fmt::format("{} atoms, forces", count),
      .arrays = {input(Type::f32, atoms), output(Type::f32, 4 * atoms.size()), input(Type::i32, first)},
      .numbers = {double(count), length, double(box.cells)},
      .block = {128},
      .opencl_blocks = {{64}, {128}, {256}},
      .steps = [=](Language, Dim3 block) -> std::vector<Step> {
        return {{"forces", {blocks_for(static_cast<size_t>(count), block.x)}, block, {position, force, cells, box}}};
      },
      .tolerance = {.absolute = 1e-2, .relative = 1e-3},
      .flops = 20.0 * 27 * count * count / double(first.size() - 1)};
}

}  // namespace trine::bench_compute
