// Inside the oneDNN module: one function per kind of problem, and what they share.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "peer.h"

namespace trine::bench::onednn {

using namespace dnnl;  // the module is a translation of one vocabulary into the other
using Tag = memory::format_tag;

struct Context {
  dnnl::engine engine;
  dnnl::stream stream;
};
Context open_context();

std::vector<PeerRun> convolutions(const Context&, const dnn::ConvProblem&, const Operands&);
std::vector<PeerRun> products(const Context&, const dnn::MatmulProblem&, const Operands&);
std::vector<PeerRun> pools(const Context&, const dnn::PoolProblem&, const Operands&);
std::vector<PeerRun> resamplings(const Context&, const dnn::ResizeProblem&, const Operands&);
std::vector<PeerRun> recurrences(const Context&, const dnn::RnnProblem&, const Operands&);
std::vector<PeerRun> attentions(const Context&, const dnn::AttentionProblem&, const Operands&);

inline memory::desc f32(const memory::dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }

// [N, C, spatial...] as oneDNN names dimensions, two spatial ones unless there is depth.
bool has_depth(std::initializer_list<dnn::Extents> all);
memory::dims spatial(const dnn::Extents& e, bool depth);
memory::dims image(int64_t n, int64_t channels, const dnn::Extents& e, bool depth);
inline Tag channels_last(bool depth) { return depth ? Tag::ndhwc : Tag::nhwc; }

// Bias is an argument of the primitive; the rest of an epilogue becomes post-operations. Scratch memory is the
// caller's.
primitive_attr attributes(const dnn::Epilogue& epilogue);

// The argument list of one primitive as it grows.
class Arguments {
 public:
  explicit Arguments(const Context& context) : context_(context) {}
  // `data` lies as `plain` says and is brought into the layout `wanted`.
  void give(int name, const memory::desc& wanted, const memory::desc& plain, const float* data);
  memory make(int name, const memory::desc& desc);       // uninitialised
  void give_random(int name, const memory::desc& desc);  // where only the time matters
  PeerRun finish(const primitive& primitive, const std::string& label, const memory::desc& plain_out);

 private:
  const Context& context_;
  std::unordered_map<int, memory> args_;
};

}  // namespace trine::bench::onednn
