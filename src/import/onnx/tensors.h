// TensorProto and SparseTensorProto -> Tensor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "import/onnx/files.h"
#include "import/onnx/proto.h"
#include "trine/base/tensor.h"

namespace trine::onnx {

// Reads the tensors of one model. Sizes are checked against the bytes that are there before anything is allocated;
// raw and external data is referenced in place where its alignment suits. Reading the same bytes again gives the same
// Tensor.
class TensorReader {
 public:
  // `owner` keeps the model's bytes alive. `dense_limit`: bytes that sparse tensors may take once made dense.
  TensorReader(std::shared_ptr<const void> owner, DataFolder& folder, int64_t dense_limit)
      : owner_(std::move(owner)), folder_(folder), dense_left_(dense_limit) {}

  // `where` begins the messages: "initializer 'w'". Throws Error or Damaged.
  Tensor read(Bytes bytes, std::string_view where);
  Tensor read_sparse(Bytes bytes, std::string_view where);

 private:
  std::shared_ptr<const void> owner_;
  DataFolder& folder_;
  int64_t dense_left_;
  std::unordered_map<const char*, Tensor> read_;
};

// The name field alone: of a TensorProto, or of a SparseTensorProto's values.
std::string_view tensor_name(Bytes bytes);
std::string_view sparse_tensor_name(Bytes bytes);

}  // namespace trine::onnx
