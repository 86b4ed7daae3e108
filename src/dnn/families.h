// What problem.cc and operands.cc ask of each kind of problem, for kinds described in files of their own.
#pragma once

#include "dnn/operands.h"

namespace trine::dnn {

// " f16"; nothing for f32.
std::string type_text(DType type);

std::string text_of(const AttentionProblem& p);
double flops_of(const AttentionProblem& p);
double bytes_of(const AttentionProblem& p);
OperandSizes sizes_of(const AttentionProblem& p);

std::string text_of(const RnnProblem& p);
double flops_of(const RnnProblem& p);
double bytes_of(const RnnProblem& p);
OperandSizes sizes_of(const RnnProblem& p);

std::string text_of(const CtcLossProblem& p);
double flops_of(const CtcLossProblem& p);
OperandSizes sizes_of(const CtcLossProblem& p);

std::string text_of(const AffineGridProblem& p);
double flops_of(const AffineGridProblem& p);
OperandSizes sizes_of(const AffineGridProblem& p);

std::string text_of(const GridSampleProblem& p);
double flops_of(const GridSampleProblem& p);
OperandSizes sizes_of(const GridSampleProblem& p);

std::string text_of(const ActivationProblem& p);
double flops_of(const ActivationProblem& p);
OperandSizes sizes_of(const ActivationProblem& p);

std::string text_of(const BinaryProblem& p);
double flops_of(const BinaryProblem& p);
OperandSizes sizes_of(const BinaryProblem& p);

std::string text_of(const DropoutProblem& p);
double flops_of(const DropoutProblem& p);
OperandSizes sizes_of(const DropoutProblem& p);

std::string text_of(const SoftmaxProblem& p);
double flops_of(const SoftmaxProblem& p);
OperandSizes sizes_of(const SoftmaxProblem& p);

std::string text_of(const NormProblem& p);
double flops_of(const NormProblem& p);
OperandSizes sizes_of(const NormProblem& p);

std::string text_of(const LrnProblem& p);
double flops_of(const LrnProblem& p);
OperandSizes sizes_of(const LrnProblem& p);

std::string text_of(const ReduceProblem& p);
double flops_of(const ReduceProblem& p);
OperandSizes sizes_of(const ReduceProblem& p);

std::string text_of(const TransformProblem& p);
double flops_of(const TransformProblem& p);
double bytes_of(const TransformProblem& p);
OperandSizes sizes_of(const TransformProblem& p);

// Every operand once.
double bytes_of_operands(const OperandSizes& sizes);

}  // namespace trine::dnn
