// Product: c = scale * a b, or c += that, for operands that come as they are: b is packed by the caller.
#pragma once

#include <algorithm>

#include "backends/cpu/kernels/gemm/gemm.h"

namespace trine::cpu {

struct Rows {
  const float* data;
  int64_t stride;
};

class Product {
 public:
  // `tables` has threads * table_bytes(rows), for the most rows that a product will have; pool null: one thread.
  Product(const GemmIsa& isa, ThreadPool* pool, void* tables) : isa_(isa), pool_(pool), tables_(tables) {}

  static size_t table_bytes(const GemmIsa& isa, int64_t rows) {
    GemmJob job;  // that of the longest blocks of rows: little depth, a large b
    job.rows = rows, job.columns = 1 << 20, job.kc = 1;
    return gemm_part_bytes(isa, job);
  }

  struct To {
    float* c;
    int64_t stride;
    bool add = false;
    float scale = 1;
    const float* bias = nullptr;
  };
  void operator()(Rows a, int64_t rows, int64_t k, const float* panels, int64_t columns, const To& to) const {
    if (rows == 0 || columns == 0) return;
    if (k == 0) return without_terms(rows, columns, to);
    auto linear = LinearRows::of_floats(a.data, a.stride, to.c, to.stride);
    GemmJob job;
    job.rows = rows, job.columns = columns, job.kc = k;
    job.source = linear.source();
    job.row_stride = a.stride;
    job.b = panels;
    job.accumulate = to.add;
    job.epilogue.scale = to.scale;
    job.epilogue.bias = to.bias;
    run_gemm(isa_, job, pool_, tables_);
  }
  const GemmIsa& isa() const { return isa_; }

 private:
  static void without_terms(int64_t rows, int64_t columns, const To& to) {
    for (int64_t i = 0; i < rows && !to.add; ++i)
      for (int64_t j = 0; j < columns; ++j) to.c[i * to.stride + j] = to.bias ? to.bias[j] : 0;
  }

  const GemmIsa& isa_;
  ThreadPool* pool_;
  void* tables_;
};

}  // namespace trine::cpu
