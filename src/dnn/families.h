// What problem.cc and operands.cc ask of each kind of problem, for kinds described in files of their own.
#pragma once

#include "dnn/operands.h"

namespace trine::dnn {

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

// Every operand once.
double bytes_of_operands(const OperandSizes& sizes);

}  // namespace trine::dnn
