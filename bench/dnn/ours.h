// Trine's side of a measurement: rows of kernels on the shared operands, weights packed and scratch memory there.
#pragma once

#include "dnn/kernel_row.h"
#include "operands.h"
#include "trine/base/thread_pool.h"

namespace trine::bench {

class OurRun {
 public:
  // What it is given must outlive it.
  OurRun(const dnn::KernelRow& row, const dnn::Problem& problem, const Operands& operands, ThreadPool& pool);

  void run() { row_->run(*problem_, args_); }
  std::vector<float> output() const { return as_floats(out_.type, args_.out[0], out_.count); }
  const dnn::KernelRow& row() const { return *row_; }

 private:
  const dnn::KernelRow* row_;
  const dnn::Problem* problem_;
  dnn::Args args_;
  Operand out_;
  std::vector<std::unique_ptr<char[]>> kept_;
};

}  // namespace trine::bench
