#include "plan/lodge.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace trine {
namespace {

// Rows of `row` elements, `stride` elements apart.
struct Spread {
  int64_t row = 0, stride = 0;
  bool is_dense() const { return row == stride; }
};

// How a tensor of `dims` lies under these strides, if that is rows at one distance.
std::optional<Spread> spread_of(const Dims& dims, const Dims& strides) {
  int64_t row = 1;
  size_t outer = dims.size();
  for (; outer > 0 && (dims[outer - 1] == 1 || strides[outer - 1] == row); --outer) row *= dims[outer - 1];
  if (outer == 0) return Spread{row, row};
  const int64_t stride = strides[outer - 1];
  if (stride < row) return std::nullopt;
  int64_t expected = stride;
  for (; outer > 0; --outer) {
    if (dims[outer - 1] != 1 && strides[outer - 1] != expected) return std::nullopt;
    expected *= dims[outer - 1];
  }
  return Spread{row, stride};
}

// The distance `step` within a dense tensor, when its rows move apart; `inside` collects what stays within a row.
std::optional<int64_t> moved(int64_t step, const Spread& s) {
  if (step % s.row == 0) return step / s.row * s.stride;
  return std::abs(step) < s.row ? std::optional(step) : std::nullopt;
}

// One side of a strided copy; false when its steps cross rows.
bool move_copy_side(const Dims& dims, Dims& strides, int64_t& offset, const Spread& s) {
  int64_t lowest = offset % s.row, highest = lowest;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    const std::optional<int64_t> to = moved(strides[i], s);
    if (!to) return false;
    const bool inside = strides[i] % s.row != 0;
    if (inside) (strides[i] > 0 ? highest : lowest) += (dims[i] - 1) * strides[i];
    strides[i] = *to;
  }
  offset = offset / s.row * s.stride + offset % s.row;
  return lowest >= 0 && highest < s.row;
}

// An operand of attention: rows of `width` elements at [batch, head, position].
bool move_attention_side(Dims dims, std::array<int64_t, 3>& strides, const Spread& s) {
  Dims moving{strides[0], strides[1], strides[2], 1};
  int64_t offset = 0;
  if (!move_copy_side(dims, moving, offset, s)) return false;
  std::copy_n(moving.begin(), 3, strides.begin());
  return true;
}

// Which operands of a call are the guest.
struct Touch {
  bool in[dnn::kMostOperands] = {}, out[dnn::kMostOperands] = {}, bias = false, residual = false;
  bool any_of_in() const { return std::find(std::begin(in), std::end(in), true) != std::end(in); }
};

// `call` with the operands of `touch` spread; false when its kind of problem has no such stride.
bool spread_conv(dnn::ConvProblem& p, const Touch& t, const Spread& s) {
  if (t.residual || p.in_layout != dnn::Layout::nhwc) return false;
  if (t.in[0]) {
    if (p.in_channels != s.row || p.in_pixel_stride) return false;
    p.in_pixel_stride = s.stride;
  }
  if (t.out[0]) {
    if (p.out_channels != s.row || p.out_pixel_stride || p.epilogue.residual != dnn::Residual::none) return false;
    p.out_pixel_stride = s.stride;
  }
  return true;
}

// Pools and resizes.
template <class Problem>
bool spread_image(Problem& p, const Touch& t, const Spread& s) {
  if (p.layout != dnn::Layout::nhwc || p.channels != s.row) return false;
  if (t.in[0]) p.in_pixel_stride = s.stride;
  if (t.out[0]) p.out_pixel_stride = s.stride;
  return true;
}

bool spread_matmul(dnn::MatmulProblem& p, const Touch& t, const Spread& s) {
  if (t.any_of_in() || t.residual || p.n != s.row || p.epilogue.residual != dnn::Residual::none) return false;
  p.out_row_stride = s.stride;
  return true;
}

bool spread_attention(dnn::AttentionProblem& p, const Touch& t, const Spread& s) {
  if (t.in[3]) return false;
  const auto side = [&](bool touched, int64_t heads, int64_t len, int64_t width, std::array<int64_t, 3>& strides) {
    return !touched || move_attention_side({p.batch, heads, len, width}, strides, s);
  };
  return side(t.in[0], p.heads, p.q_len, p.head_dim, p.q_stride) &&
         side(t.in[1], p.kv_heads, p.kv_len, p.head_dim, p.k_stride) &&
         side(t.in[2], p.kv_heads, p.kv_len, p.v_head_dim, p.v_stride) &&
         side(t.out[0], p.heads, p.q_len, p.v_head_dim, p.out_stride);
}

bool spread_copy(KernelCall& call, dnn::CopyProblem& p, const Touch& t, const Spread& s) {
  const auto side = [&](Dims& strides, int64_t& offset_bytes) {
    int64_t offset = offset_bytes / p.element_bytes;
    const bool fits = move_copy_side(p.dims, strides, offset, s);
    offset_bytes = offset * p.element_bytes;
    return fits;
  };
  return (!t.in[0] || side(p.in_strides, call.in_offset_bytes)) &&
         (!t.out[0] || side(p.out_strides, call.out_offset_bytes));
}

bool spread(KernelCall& call, const Touch& t, const Spread& s) {
  if (t.bias) return false;
  if (auto* p = std::get_if<dnn::ConvProblem>(&call.problem)) return spread_conv(*p, t, s);
  if (auto* p = std::get_if<dnn::PoolProblem>(&call.problem)) return spread_image(*p, t, s);
  if (auto* p = std::get_if<dnn::ResizeProblem>(&call.problem)) return spread_image(*p, t, s);
  if (auto* p = std::get_if<dnn::MatmulProblem>(&call.problem)) return spread_matmul(*p, t, s);
  if (auto* p = std::get_if<dnn::AttentionProblem>(&call.problem)) return spread_attention(*p, t, s);
  if (auto* p = std::get_if<dnn::CopyProblem>(&call.problem)) return spread_copy(call, *p, t, s);
  return false;
}

// The image whose way from [N,C,spatial...] to [N,spatial...,C] a copy is; nothing for other copies.
std::optional<dnn::ConvProblem> image_of(const dnn::CopyProblem& p) {
  const size_t rank = p.dims.size();
  if (rank < 3 || rank > 5) return std::nullopt;
  dnn::ConvProblem image;
  image.n = p.dims[0];
  image.in_channels = p.dims[rank - 1];
  std::copy(p.dims.begin() + 1, p.dims.end() - 1, image.in.end() - static_cast<long>(rank - 2));
  Dims in(rank), out(rank, 1);
  int64_t pixels = 1;
  for (size_t i = rank - 2; i >= 1; --i) {
    in[i] = pixels;
    pixels *= p.dims[i];
  }
  in[rank - 1] = pixels;
  in[0] = pixels * image.in_channels;
  for (size_t i = rank - 1; i > 0; --i) out[i - 1] = out[i] * p.dims[i];
  for (size_t i = 0; i < rank; ++i)
    if (p.dims[i] != 1 && (p.in_strides[i] != in[i] || p.out_strides[i] != out[i])) return std::nullopt;
  return image;
}

class Lodger {
 public:
  Lodger(Segment& segment, int threads) : segment_(segment), threads_(threads), gone_(segment.calls.size()) {
    makers_.assign(graph().values.size(), kNobody);
    for (size_t c = 0; c < segment.calls.size(); ++c)
      for (ValueId id : node_of(c).outputs)
        if (id != kNoValue && makers_[index(root(id))] == kNobody) makers_[index(root(id))] = static_cast<int>(c);
  }

  void run() {
    for (size_t c = 0; c < segment_.calls.size(); ++c)
      if (is_copy(c) && node_of(c).is("transpose")) read_as_it_comes(c);
    // Later joins first: what joins a tensor that itself joins another then sees where that one lives.
    for (size_t c = segment_.calls.size(); c-- > 0;)
      if (is_copy(c) && node_of(c).is("concat")) try_copy(c, input_root(c), output_root(c), true);
    for (size_t c = 0; c < segment_.calls.size(); ++c)
      if (is_copy(c) && !node_of(c).is("concat")) try_copy(c, output_root(c), input_root(c), false);
    std::vector<Call> kept;
    for (size_t c = 0; c < segment_.calls.size(); ++c)
      if (!gone_[c]) kept.push_back(std::move(segment_.calls[c]));
    segment_.calls = std::move(kept);
    for (auto& [guest, lodging] : segment_.lodgings) settle(lodging);
  }

 private:
  static constexpr int kNobody = -1;
  static constexpr int64_t kDeviceAlignment = 16;

  const Graph& graph() const { return segment_.typed; }
  static size_t index(ValueId id) { return static_cast<size_t>(id); }
  ValueId root(ValueId id) const { return segment_.root[index(id)]; }
  const Node& node_of(size_t c) const { return graph().nodes[static_cast<size_t>(segment_.calls[c].node)]; }
  ValueId input_root(size_t c) const {
    return root(node_of(c).inputs[static_cast<size_t>(segment_.calls[c].what.in[0])]);
  }
  ValueId output_root(size_t c) const {
    return root(node_of(c).outputs[static_cast<size_t>(segment_.calls[c].what.out[0])]);
  }
  bool is_copy(size_t c) const {
    const Call& call = segment_.calls[c];
    return call.kind == Call::Kind::kernel && std::holds_alternative<dnn::CopyProblem>(call.what.problem);
  }
  bool is_host_made(ValueId id) const {
    const int maker = makers_[index(id)];
    return maker != kNobody && segment_.calls[static_cast<size_t>(maker)].kind == Call::Kind::host;
  }

  // Names the host that lodges nowhere itself.
  void settle(Lodging& lodging) const {
    for (auto it = segment_.lodgings.find(lodging.host); it != segment_.lodgings.end();
         it = segment_.lodgings.find(lodging.host)) {
      lodging.host = it->second.host;
      lodging.offset_bytes += it->second.offset_bytes;
    }
  }

  // Whether `guest` may live elsewhere at all: made by a kernel or loop of this segment, and no one's answer.
  bool may_move(ValueId guest) const {
    if (makers_[index(guest)] == kNobody || is_host_made(guest) || segment_.lodgings.contains(guest)) return false;
    for (ValueId id : graph().outputs)
      if (root(id) == guest) return false;
    return !is_host_of_any(guest);
  }
  bool is_host_of_any(ValueId id) const {
    return std::any_of(segment_.lodgings.begin(), segment_.lodgings.end(),
                       [&](const auto& l) { return l.second.host == id; });
  }

  void try_copy(size_t c, ValueId guest, ValueId host, bool joins) {
    if (guest == host || !may_move(guest) || is_host_made(host)) return;
    const Call& call = segment_.calls[c];
    const auto& p = std::get<dnn::CopyProblem>(call.what.problem);
    const std::optional<Spread> at_guest = spread_of(p.dims, joins ? p.in_strides : p.out_strides);
    const std::optional<Spread> at_host = spread_of(p.dims, joins ? p.out_strides : p.in_strides);
    const int64_t guest_offset = joins ? call.what.in_offset_bytes : call.what.out_offset_bytes;
    const int64_t bytes = element_count(p.dims) * p.element_bytes;
    // Kernels of devices count on aligned operands.
    if (call.device && (joins ? call.what.out_offset_bytes : call.what.in_offset_bytes) % kDeviceAlignment) return;
    if (!at_guest || !at_guest->is_dense() || !at_host || guest_offset || bytes != bytes_of(guest)) return;
    if (!at_host->is_dense() && (!is_seen_whole_here(guest) || !spread_others(c, guest, *at_host))) return;
    segment_.lodgings[guest] = {host, joins ? call.what.out_offset_bytes : call.what.in_offset_bytes,
                                at_host->row * p.element_bytes, at_host->stride * p.element_bytes};
    gone_[c] = true;
  }

  // Drops copy c when all that read its result are convolutions that can read its source.
  void read_as_it_comes(size_t c) {
    const Call& call = segment_.calls[c];
    const ValueId guest = output_root(c), host = input_root(c);
    const auto image = image_of(std::get<dnn::CopyProblem>(call.what.problem));
    if (!image || call.what.in_offset_bytes || call.what.out_offset_bytes || !may_move(guest) ||
        bytes_of(host) != bytes_of(guest) || !is_seen_whole_here(guest))
      return;
    const bool fits = change_others(c, guest, [&](KernelCall& what, const Touch& t) {
      auto* p = std::get_if<dnn::ConvProblem>(&what.problem);
      if (!p || !t.in[0] || t.bias || t.residual || t.out[0] || p->in_layout != dnn::Layout::nhwc) return false;
      if (p->in_pixel_stride || p->n != image->n || p->in_channels != image->in_channels || p->in != image->in)
        return false;
      p->in_layout = dnn::Layout::nchw;
      return true;
    });
    if (!fits) return;
    for (size_t id = 0; id < segment_.root.size(); ++id) {
      if (segment_.root[id] != guest) continue;
      segment_.root[id] = host;
      segment_.planar.insert(static_cast<ValueId>(id));
    }
    gone_[c] = true;
  }

  int64_t bytes_of(ValueId id) const {
    const Type& t = graph().type(id);
    return element_count(t.shape.static_dims()) * static_cast<int64_t>(byte_size(t.dtype));
  }

  // No later segment reads the value.
  bool is_seen_whole_here(ValueId id) const {
    for (size_t n = static_cast<size_t>(segment_.last); n < graph().nodes.size(); ++n)
      for (ValueId in : graph().nodes[n].inputs)
        if (in != kNoValue && root(in) == id) return false;
    return true;
  }

  // Tells all calls but `copy` that touch the guest how it lies; changes nothing and returns false if one cannot.
  bool spread_others(size_t copy, ValueId guest, const Spread& s) {
    return change_others(copy, guest, [&](KernelCall& what, const Touch& touch) { return spread(what, touch, s); });
  }

  // Applies `change` to all of these calls, or, where it returns false for one or its row no longer fits, to none.
  template <class Change>
  bool change_others(size_t copy, ValueId guest, Change change) {
    std::vector<std::pair<size_t, KernelCall>> changed;
    for (size_t c = 0; c < segment_.calls.size(); ++c) {
      if (c == copy || gone_[c]) continue;
      const Call& call = segment_.calls[c];
      if (call.kind != Call::Kind::kernel) {
        if (touches(node_of(c), guest)) return false;
        continue;
      }
      const std::optional<Touch> touch = touch_of(call.what, node_of(c), guest);
      if (!touch) continue;
      KernelCall what = call.what;
      if (!change(what, *touch) || !fits(call, what.problem)) return false;
      changed.emplace_back(c, std::move(what));
    }
    for (auto& [c, what] : changed) {
      Call& call = segment_.calls[c];
      call.what = std::move(what);
      if (call.row) call.workspace_bytes = dnn::workspace_bytes(*call.row, call.what.problem, threads_);
    }
    return true;
  }

  static bool fits(const Call& call, const dnn::Problem& problem) {
    return call.device ? call.device->fits(problem) : call.row->fits(problem) == nullptr;
  }

  bool touches(const Node& node, ValueId id) const {
    const auto is = [&](ValueId v) { return v != kNoValue && root(v) == id; };
    return std::any_of(node.inputs.begin(), node.inputs.end(), is) ||
           std::any_of(node.outputs.begin(), node.outputs.end(), is);
  }

  std::optional<Touch> touch_of(const KernelCall& call, const Node& node, ValueId id) const {
    const auto is = [&](const std::vector<ValueId>& ids, int i) {
      return i >= 0 && static_cast<size_t>(i) < ids.size() && ids[static_cast<size_t>(i)] != kNoValue &&
             root(ids[static_cast<size_t>(i)]) == id;
    };
    Touch t;
    for (size_t i = 0; i < call.in.size(); ++i) t.in[i] = is(node.inputs, call.in[i]);
    for (size_t i = 0; i < call.out.size(); ++i) t.out[i] = is(node.outputs, call.out[i]);
    t.bias = is(node.inputs, call.bias);
    t.residual = is(node.inputs, call.residual);
    const bool any = t.any_of_in() || t.out[0] || t.out[1] || t.out[2] || t.bias || t.residual;
    return any ? std::optional(t) : std::nullopt;
  }

  Segment& segment_;
  int threads_;
  std::vector<bool> gone_;
  std::vector<int> makers_;  // the first call that makes each root
};

}  // namespace

void lodge(Segment& segment, int threads) { Lodger(segment, threads).run(); }

}  // namespace trine
