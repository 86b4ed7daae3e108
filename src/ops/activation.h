// The scalar functions that may follow a contraction (its epilogue) or drive a recurrent cell, and their meaning: once
// in f64 for references, once in the scalar language for generated kernels.
#pragma once

#include <optional>

#include "codegen/lower.h"
#include "graph/graph.h"

namespace trine {

struct Activation {
  enum class Kind : uint8_t {
    identity,
    relu,
    clip,
    sigmoid,
    tanh,
    silu,
    hard_sigmoid,
    hard_swish,
    gelu,
    gelu_tanh,
    leaky_relu,
    elu,
    softplus,
    softsign,
    mish,
    affine,
    scaled_tanh,
    thresholded_relu,
  };
  Kind kind = Kind::identity;
  double alpha = 0;  // clip: lower bound; the ONNX operator's alpha elsewhere
  double beta = 0;   // clip: upper bound

  friend bool operator==(const Activation&, const Activation&) = default;
};

// What a kind is called and which parameters it reads.
struct ActivationRow {
  Activation::Kind kind;
  std::string_view name;  // snake_case
  int parameters;         // 0: none, 1: alpha, 2: alpha and beta
  double alpha, beta;     // defaults
};

// Null for an unknown name; "hard_sigmoid" and ONNX's "HardSigmoid" are the same name.
const ActivationRow* find_activation(std::string_view name);
const ActivationRow& activation_row(Activation::Kind kind);

// Attributes `activation`, `activation_alpha`, `activation_beta` (or com.microsoft's list `activation_params`).
Activation activation_of(const Node& node);
void set_activation(Attrs& attrs, const Activation& activation);

double apply(const Activation& f, double x);
codegen::Scalar lower(codegen::LowerContext& c, const Activation& f, codegen::Scalar x);

// y = activation(y + residual), or activation(y) + residual where the attribute `residual` is 2: the epilogue of
// convolution and matmul references. `residual` may be null.
void apply_epilogue(const Node& node, std::vector<double>& y, const Dims& y_dims, const Tensor* residual);

}  // namespace trine
