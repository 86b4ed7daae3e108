// What problems of several kinds share.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace trine::dnn {

enum class Layout : uint8_t { nhwc, nchw };
std::string_view name(Layout layout);

using Extents = std::array<int64_t, 3>;  // depth, height, width

// A problem that can be asked for its result or for its gradients.
enum class Pass : uint8_t { forward, backward };

// Inputs, outputs and weights that a problem may have at most.
constexpr int kMostOperands = 12, kMostWeights = 5;

}  // namespace trine::dnn
