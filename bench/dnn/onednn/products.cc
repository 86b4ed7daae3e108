// Matrix products: as matmul with plain and with free layouts, and, with constant weights, as inner product.
#include <chrono>

#include "onednn/make.h"

namespace trine::bench::onednn {
namespace {

// Dimensions padded in front to the same number.
memory::dims full(const Dims& batch, size_t rank, int64_t rows, int64_t columns) {
  memory::dims dims(rank, 1);
  for (size_t i = 0; i < batch.size(); ++i) dims[rank - batch.size() + i] = batch[i];
  dims.insert(dims.end(), {rows, columns});
  return dims;
}

memory::desc rows_of(const memory::dims& dims, DType type, bool transposed = false) {
  memory::dims strides(dims.size(), 1);
  const size_t r = dims.size() - 2, c = dims.size() - 1;
  strides[r] = transposed ? 1 : dims[c];
  strides[c] = transposed ? dims[r] : 1;
  int64_t stride = dims[r] * dims[c];
  for (size_t i = r; i-- > 0; stride *= dims[i]) strides[i] = stride;
  return {dims, type_of(type), strides};
}

Plain plain_of(const dnn::MatmulProblem& p) {
  const Dims batch = dnn::batch_of(p);
  const size_t rank = batch.size();
  memory::dims bias(rank + 2, 1);
  bias.back() = p.n;
  return {rows_of(full(p.a_batch, rank, p.m, p.k), p.types.in, p.trans_a),
          rows_of(full(p.b_batch, rank, p.k, p.n), p.types.weights, p.trans_b),
          p.epilogue.bias ? rows_of(bias, p.types.bias) : memory::desc(),
          rows_of(full(batch, rank, p.m, p.n), p.types.out)};
}

PeerRun product(const Context& context, const dnn::MatmulProblem& p, const Operands& o, bool any) {
  const Plain s = plain_of(p);
  const auto begin = std::chrono::steady_clock::now();
  const matmul::primitive_desc desc(context.engine, any ? free_layout(s.x) : s.x, p.b_constant ? free_layout(s.w) : s.w,
                                    s.b, any ? free_layout(s.y) : s.y,
                                    attributes(p.epilogue, o, 1 << (s.w.get_ndims() - 1)));
  const matmul primitive(desc);
  const std::chrono::duration<double, std::milli> create = std::chrono::steady_clock::now() - begin;
  Arguments args(context);
  args.give_all(desc, s, p.b_constant ? o.weights[0] : o.in[1], o);
  const bool plain = desc.src_desc() == s.x && desc.dst_desc() == s.y;
  PeerRun run = args.finish(primitive, std::string("matmul ") + desc.impl_info_str() + (plain ? "" : " blocked"), s.y);
  run.create_ms = create.count();
  return run;
}

PeerRun inner(const Context& context, const dnn::MatmulProblem& p, const Operands& o) {
  const Plain s{{{p.m, p.k}, type_of(p.types.in), Tag::nc},
                {{p.n, p.k}, type_of(p.types.weights), p.trans_b ? Tag::oi : Tag::io},
                p.epilogue.bias ? memory::desc({p.n}, type_of(p.types.bias), Tag::x) : memory::desc(),
                {{p.m, p.n}, type_of(p.types.out), Tag::nc}};
  const auto begin = std::chrono::steady_clock::now();
  const inner_product_forward::primitive_desc desc(context.engine, prop_kind::forward_inference, s.x, free_layout(s.w),
                                                   s.b, s.y, attributes(p.epilogue, o, 1));
  const inner_product_forward primitive(desc);
  const std::chrono::duration<double, std::milli> create = std::chrono::steady_clock::now() - begin;
  Arguments args(context);
  args.give_all(desc, s, o.weights[0], o);
  PeerRun run = args.finish(primitive, std::string("ip ") + desc.impl_info_str(), s.y);
  run.create_ms = create.count();
  return run;
}

}  // namespace

std::vector<PeerRun> products(const Context& context, const dnn::MatmulProblem& p, const Operands& o) {
  std::vector<PeerRun> runs;
  for (const bool any : {false, true}) try_add(runs, [&] { return product(context, p, o, any); });
  if (p.b_constant && p.a_batch.empty() && !p.trans_a) try_add(runs, [&] { return inner(context, p, o); });
  return runs;
}

}  // namespace trine::bench::onednn
