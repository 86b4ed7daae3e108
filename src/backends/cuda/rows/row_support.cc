#include "backends/cuda/rows/row_support.h"

#include "base/divider.h"

namespace trine::cuda {

Divider divider_of(int64_t divisor) {
  const DividerNumbers n = divider_numbers(divisor);
  return {n.divisor, n.magic, n.shift};
}

const char* element_name(DType type) {
  switch (type) {
    case DType::f32: return "float";
    case DType::f16: return "__half";
    case DType::bf16: return "__nv_bfloat16";
    case DType::i8: return "signed char";
    case DType::u8: return "unsigned char";
    case DType::i32: return "int";
    default: return nullptr;
  }
}

const char* word_name(int64_t bytes) {
  switch (bytes) {
    case 1: return "unsigned char";
    case 2: return "unsigned short";
    case 4: return "unsigned int";
    case 8: return "unsigned long long";
    case 16: return "trine::Sixteen";
    default: return nullptr;
  }
}

DeviceLaunch launch(std::string_view source, std::string kernel, Dim3 grid, std::vector<DeviceArgument> arguments,
                    Dim3 block, uint32_t shared_bytes) {
  DeviceLaunch l;
  l.source = dnn::device_source(source);
  l.kernel = std::move(kernel);
  l.shape.grid = grid;
  l.shape.block = block;
  l.shape.shared_bytes = shared_bytes;
  l.shape.overlap = true;
  l.arguments = std::move(arguments);
  return l;
}

}  // namespace trine::cuda
