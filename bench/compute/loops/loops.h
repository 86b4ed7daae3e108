// Plain loops in C++ of the same algorithms, on all threads by OpenMP. They are a module of their own, compiled for the
// processor of the build (cmake/bench.cmake has the flags), which bench_compute opens when it compares with them.
#pragma once

#include <cstddef>

namespace trine::bench_compute {

struct Work {
  void* const* arrays;  // as the case lists them
  const double* numbers;

  template <class T>
  T* array(int index) const {
    return static_cast<T*>(arrays[index]);
  }
  int number(int index) const { return static_cast<int>(numbers[index]); }
};

struct LoopRow {
  const char* name;
  void (*run)(const Work& work);
};

// What the module exports as "trine_bench_loops".
struct LoopTable {
  const LoopRow* rows;
  size_t count;
  const char* compiler;
  void (*set_threads)(int threads);
};

}  // namespace trine::bench_compute
