// Rewrites of old operators that take more than moving an attribute; versions.cc says which applies when.
#pragma once

#include "import/onnx/versions.h"

namespace trine::onnx {

// A scalar of x's element type.
ValueId scalar_like(GraphWriter& writer, ValueId x, double value);

void softmax_over_flattened(ImportNode& node, GraphWriter& writer);  // Softmax, LogSoftmax, Hardmax before 13
void batch_norm_per_element(ImportNode& node, GraphWriter& writer);  // BatchNormalization before 9: spatial = 0
void batch_norm_by_outputs(ImportNode& node, GraphWriter& writer);   // before 14: outputs ask for training
void group_norm_per_group(ImportNode& node, GraphWriter& writer);    // GroupNormalization before 21
void upsample_to_resize(ImportNode& node, GraphWriter& writer);
void resize_asymmetric(ImportNode& node, GraphWriter& writer);  // Resize before 11
void resize_without_empty_inputs(ImportNode& node, GraphWriter& writer);
void scan_over_batch(ImportNode& node, GraphWriter& writer);           // Scan before 9
void label_encoder_by_classes(ImportNode& node, GraphWriter& writer);  // LabelEncoder before 2

}  // namespace trine::onnx
