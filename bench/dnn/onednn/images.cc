// Convolutions, pools and resamplings: each with activations channels-last, as Trine has them, and in the layout that
// oneDNN likes best; bench_dnn keeps the faster.
#include <chrono>

#include "onednn/make.h"

namespace trine::bench::onednn {
namespace {

memory::dims less_one(memory::dims dims) {  // oneDNN's dilation of a dense kernel is 0
  for (int64_t& d : dims) --d;
  return dims;
}

memory::dims end_padding(const dnn::ConvProblem& p, bool depth) {
  dnn::Extents end;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t small = p.transposed ? p.in[i] : p.out[i], large = p.transposed ? p.out[i] : p.in[i];
    end[i] = (small - 1) * p.stride[i] + (p.kernel[i] - 1) * p.dilation[i] + 1 - large - p.pad_begin[i];
  }
  return spatial(end, depth);
}

Plain plain_of(const dnn::ConvProblem& p, bool depth) {
  memory::dims w{p.out_per_group(), p.in_per_group()};
  if (p.groups > 1) w.insert(w.begin(), p.groups);
  for (int64_t k : spatial(p.kernel, depth)) w.push_back(k);
  Tag tag = p.transposed ? (depth ? Tag::iodhw : Tag::iohw) : (depth ? Tag::oidhw : Tag::oihw);
  if (p.groups > 1) tag = p.transposed ? (depth ? Tag::giodhw : Tag::giohw) : (depth ? Tag::goidhw : Tag::goihw);
  return {{image(p.n, p.in_channels, p.in, depth), type_of(p.types.in), channels_last(depth)},
          {w, type_of(p.types.weights), tag},
          p.epilogue.bias ? memory::desc({p.out_channels}, type_of(p.types.bias), Tag::x) : memory::desc(),
          {image(p.n, p.out_channels, p.out, depth), type_of(p.types.out), channels_last(depth)}};
}

template <class Primitive>
PeerRun convolution(const Context& context, const dnn::ConvProblem& p, const Operands& o, algorithm kind, bool any) {
  const bool depth = has_depth({p.in, p.out, p.kernel});
  const Plain s = plain_of(p, depth);
  const auto begin = std::chrono::steady_clock::now();
  const typename Primitive::primitive_desc desc(
      context.engine, prop_kind::forward_inference, kind, any ? free_layout(s.x) : s.x, free_layout(s.w), s.b,
      any ? free_layout(s.y) : s.y, spatial(p.stride, depth), less_one(spatial(p.dilation, depth)),
      spatial(p.pad_begin, depth), end_padding(p, depth), attributes(p.epilogue, o, p.groups > 1 ? 3 : 1));
  const Primitive primitive(desc);
  const std::chrono::duration<double, std::milli> create = std::chrono::steady_clock::now() - begin;
  Arguments args(context);
  args.give_all(desc, s, o.weights[0], o);
  const bool last = desc.src_desc() == s.x && desc.dst_desc() == s.y;
  PeerRun run = args.finish(primitive, std::string(desc.impl_info_str()) + (last ? " nhwc" : " blocked"), s.y);
  run.create_ms = create.count();
  return run;
}

// 16 channels together, as oneDNN's own kernels for AVX-512 have them.
Tag blocked(bool depth) { return depth ? Tag::nCdhw16c : Tag::nChw16c; }

}  // namespace

std::vector<PeerRun> convolutions(const Context& context, const dnn::ConvProblem& p, const Operands& o) {
  std::vector<PeerRun> runs;
  for (const bool any : {false, true}) {
    if (p.transposed) {
      try_add(runs,
              [&] { return convolution<deconvolution_forward>(context, p, o, algorithm::deconvolution_direct, any); });
      continue;
    }
    for (const algorithm kind : {algorithm::convolution_direct, algorithm::convolution_auto}) {
      try_add(runs, [&] { return convolution<convolution_forward>(context, p, o, kind, any); });
    }
  }
  return runs;
}

std::vector<PeerRun> pools(const Context& context, const dnn::PoolProblem& p, const Operands& o) {
  const bool depth = has_depth({p.in, p.out, p.kernel});
  const algorithm kind = p.kind == dnn::PoolKind::max       ? algorithm::pooling_max
                         : p.kind == dnn::PoolKind::average ? algorithm::pooling_avg_exclude_padding
                                                            : algorithm::pooling_avg_include_padding;
  const auto x = image(p.n, p.channels, p.in, depth), y = image(p.n, p.channels, p.out, depth);
  std::vector<PeerRun> runs;
  for (const Tag tag : {channels_last(depth), blocked(depth)}) {
    try_add(runs, [&] {
      const pooling_forward::primitive_desc desc(context.engine, prop_kind::forward_inference, kind, f32(x, tag),
                                                 f32(y, tag), spatial(p.stride, depth), spatial(p.kernel, depth),
                                                 less_one(spatial(p.dilation, depth)), spatial(p.pad_begin, depth),
                                                 spatial(p.pad_end, depth), attributes({}));
      Arguments args(context);
      args.give(DNNL_ARG_SRC, desc.src_desc(), f32(x, channels_last(depth)), o.in[0].data);
      args.make(DNNL_ARG_DST, desc.dst_desc());
      args.make(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
      const std::string layout = tag == channels_last(depth) ? " nhwc" : " blocked";
      return args.finish(pooling_forward(desc), desc.impl_info_str() + layout, f32(y, channels_last(depth)));
    });
  }
  return runs;
}

std::vector<PeerRun> resamplings(const Context& context, const dnn::ResizeProblem& p, const Operands& o) {
  const bool depth = has_depth({p.in, p.out});
  const algorithm kind =
      p.mode == dnn::ResizeMode::linear ? algorithm::resampling_linear : algorithm::resampling_nearest;
  const auto x = image(p.n, p.channels, p.in, depth), y = image(p.n, p.channels, p.out, depth);
  std::vector<PeerRun> runs;
  for (const Tag tag : {channels_last(depth), blocked(depth)}) {
    try_add(runs, [&] {
      const resampling_forward::primitive_desc desc(context.engine, prop_kind::forward_inference, kind, f32(x, tag),
                                                    f32(y, tag), attributes({}));
      Arguments args(context);
      args.give(DNNL_ARG_SRC, desc.src_desc(), f32(x, channels_last(depth)), o.in[0].data);
      args.make(DNNL_ARG_DST, desc.dst_desc());
      args.make(DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc());
      const std::string layout = tag == channels_last(depth) ? " nhwc" : " blocked";
      return args.finish(resampling_forward(desc), desc.impl_info_str() + layout, f32(y, channels_last(depth)));
    });
  }
  return runs;
}

}  // namespace trine::bench::onednn
