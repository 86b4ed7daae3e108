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

memory::data_type type_of(DType type);
inline memory::desc f32(const memory::dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }
// The same in any layout.
inline memory::desc free_layout(const memory::desc& d) { return {d.get_dims(), d.get_data_type(), Tag::any}; }

// [N, C, spatial...] as oneDNN names dimensions, two spatial ones unless there is depth.
bool has_depth(std::initializer_list<dnn::Extents> all);
memory::dims spatial(const dnn::Extents& e, bool depth);
memory::dims image(int64_t n, int64_t channels, const dnn::Extents& e, bool depth);
inline Tag channels_last(bool depth) { return depth ? Tag::ndhwc : Tag::nhwc; }

// Bias is an argument of the primitive; the rest of an epilogue becomes post-operations. Scratch memory is the
// caller's.
primitive_attr attributes(const dnn::Epilogue& epilogue, const dnn::Quantization& quantization = {});
// With the scales and zero points of 8-bit integers, given at run time. `channels`: the mask of the weights' dimensions
// that count channels.
primitive_attr attributes(const dnn::Epilogue& epilogue, const Operands& o, int channels);

// A contraction's operands as they lie at first.
struct Plain {
  memory::desc x, w, b, y;
};

// The argument list of one primitive as it grows.
class Arguments {
 public:
  explicit Arguments(const Context& context) : context_(context) {}
  // `data` lies as `plain` says and is brought into the layout `wanted`.
  void give(int name, const memory::desc& wanted, const memory::desc& plain, const void* data);
  memory make(int name, const memory::desc& desc);       // zeros
  void give_random(int name, const memory::desc& desc);  // where only the time matters

  // All arguments of a contraction, each where the primitive wants it.
  template <class Desc>
  void give_all(const Desc& desc, const Plain& plain, const Operand& weights, const Operands& o) {
    give(DNNL_ARG_SRC, desc.src_desc(), plain.x, o.in[0].data);
    give(DNNL_ARG_WEIGHTS, desc.weights_desc(), plain.w, weights.data);
    if (o.bias) give(DNNL_ARG_BIAS, desc.bias_desc(), plain.b, o.bias.data);
    give_quantization(o);
    if (o.before) {
      give(DNNL_ARG_DST, desc.dst_desc(), plain.y, o.before.data);
    } else {
      make(DNNL_ARG_DST, desc.dst_desc());
    }
    make(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
  }

  // `plain_out` is the layout in which the output is compared; none: it is not.
  PeerRun finish(const primitive& primitive, const std::string& label, const memory::desc& plain_out);

 private:
  void give_quantization(const Operands& o);

  const Context& context_;
  std::unordered_map<int, memory> args_;
};

// What `make` returns, unless oneDNN has no such way, or it is one of `runs` already.
template <class Make>
void try_add(std::vector<PeerRun>& runs, const Make& make) {
  try {
    PeerRun run = make();
    for (const PeerRun& r : runs) {
      if (r.implementation == run.implementation) return;
    }
    runs.push_back(std::move(run));
  } catch (const error& e) {
    if (e.status != dnnl_unimplemented) throw;
  }
}

}  // namespace trine::bench::onednn
