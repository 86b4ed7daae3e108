#include "ops/window.h"

#include <algorithm>

#include "ops/node_error.h"

namespace trine {
namespace {

// Keeps every product of two attributes inside int64.
constexpr int64_t kMaxAttribute = INT32_MAX;

std::vector<int64_t> read_list(const Node& node, std::string_view name, size_t count, int64_t otherwise,
                               int64_t least) {
  std::vector<int64_t> list = node.attrs.integers(name);
  if (list.empty()) list.assign(count, otherwise);
  require(node, list.size() == count, fmt::format("{} has {} values; want {}", name, list.size(), count));
  for (int64_t v : list)
    require(node, v >= least && v <= kMaxAttribute, fmt::format("{} holds {}; want {} or more", name, v, least));
  return list;
}

Window::AutoPad read_auto_pad(const Node& node) {
  const std::string text = node.attrs.string("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return Window::AutoPad::notset;
  if (text == "SAME_UPPER") return Window::AutoPad::same_upper;
  if (text == "SAME_LOWER") return Window::AutoPad::same_lower;
  if (text == "VALID") return Window::AutoPad::valid;
  fail(node, fmt::format("auto_pad '{}'; want NOTSET, SAME_UPPER, SAME_LOWER or VALID", text));
}

bool is_same(Window::AutoPad pad) { return pad == Window::AutoPad::same_upper || pad == Window::AutoPad::same_lower; }

Dim reach(const Window& w, size_t i) { return (w.kernel[i] - 1) * w.dilations[i] + 1; }

}  // namespace

Image Image::of(const Node& node, const Shape& shape, int min_rank) {
  require(node, shape.rank() >= min_rank,
          fmt::format("x has shape [{}]; want {} or more dimensions", shape.text(), min_rank));
  Image image;
  const std::string layout = node.attrs.string("layout", "nchw");
  require(node, layout == "nchw" || layout == "nhwc", fmt::format("layout '{}'; want nchw or nhwc", layout));
  image.nhwc = layout == "nhwc" || node.attrs.integer("channels_last") != 0;
  const auto& dims = shape.dims();
  image.batch = dims[0];
  image.channels = image.nhwc ? dims.back() : dims[1];
  if (image.nhwc) image.spatial.assign(dims.begin() + 1, dims.end() - 1);
  else image.spatial.assign(dims.begin() + 2, dims.end());
  return image;
}

Shape Image::shape() const {
  std::vector<Dim> dims = {batch};
  if (!nhwc) dims.push_back(channels);
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  if (nhwc) dims.push_back(channels);
  return Shape(std::move(dims));
}

ImageStrides ImageStrides::of(const Image& image) {
  ImageStrides s{};
  s.pixels = 1;
  for (const Dim& d : image.spatial) s.pixels *= d.value();
  const int64_t channels = image.channels.value();
  s.batch = channels * s.pixels;
  s.channel = image.nhwc ? 1 : s.pixels;
  s.pixel = image.nhwc ? channels : 1;
  return s;
}

void check_growth(const Node& node, const std::vector<Dim>& in, const std::vector<Dim>& out) {
  constexpr double kMaxGrowth = 4096, kFewPixels = 16;
  double pixels_in = 1, pixels_out = 1;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!in[i].is_constant() || !out[i].is_constant()) return;
    pixels_in *= static_cast<double>(in[i].value());
    pixels_out *= static_cast<double>(out[i].value());
  }
  require(node, pixels_out <= kMaxGrowth * (pixels_in + kFewPixels),
          fmt::format("[{}] would become [{}] in the spatial dimensions; such pads or strides are not accepted",
                      Shape(in).text(), Shape(out).text()));
}

Window Window::of(const Node& node, int rank, std::vector<Dim> kernel) {
  const size_t n = static_cast<size_t>(rank);
  Window w;
  const std::vector<int64_t> attribute = node.attrs.integers("kernel_shape");
  if (kernel.empty()) {
    require(node, !attribute.empty() || n == 0, "kernel_shape is missing");
    kernel.assign(attribute.begin(), attribute.end());
  }
  require(node, kernel.size() == n,
          fmt::format("the kernel has {} spatial dimensions; the input has {}", kernel.size(), n));
  for (size_t i = 0; i < n; ++i) {
    const auto k = kernel[i].constant();
    require(node, !k || (*k >= 1 && *k <= kMaxAttribute),
            fmt::format("kernel size {}; want 1 or more", kernel[i].text()));
    if (k && !attribute.empty())
      require(node, attribute.size() == n && attribute[i] == *k, "kernel_shape differs from the weight's dimensions");
  }
  w.kernel = std::move(kernel);
  w.strides = read_list(node, "strides", n, 1, 1);
  w.dilations = read_list(node, "dilations", n, 1, 1);
  w.auto_pad = read_auto_pad(node);
  w.pads = w.auto_pad == AutoPad::notset ? read_list(node, "pads", 2 * n, 0, 0) : std::vector<int64_t>(2 * n, 0);
  w.ceil_mode = node.attrs.integer("ceil_mode") != 0;
  return w;
}

std::vector<Dim> window_output(const Node& node, const Window& w, const std::vector<Dim>& in) {
  const size_t n = in.size();
  std::vector<Dim> out(n);
  for (size_t i = 0; i < n; ++i) {
    const Dim stride = w.strides[i];
    if (is_same(w.auto_pad)) {
      out[i] = ceil_div(in[i], stride);
      continue;
    }
    const Dim padded = in[i] + w.pads[i] + w.pads[n + i], free = padded - reach(w, i);
    const bool ceil = w.ceil_mode && w.auto_pad == Window::AutoPad::notset;
    out[i] = ceil ? min(ceil_div(free, stride) + 1, ceil_div(in[i] + w.pads[i], stride)) : floor_div(free, stride) + 1;
    if (const auto v = out[i].constant(); v && *v <= 0) {
      require(node, in[i] == Dim(0),
              fmt::format("the kernel reaches over {} elements of dimension {}, which has {} with its padding; pad the "
                          "input or make it larger",
                          reach(w, i).text(), i, padded.text()));
      out[i] = 0;  // nothing in, nothing out
    }
  }
  check_growth(node, in, out);
  return out;
}

WindowGrid WindowGrid::of(const Node& node, const Window& w, const std::vector<Dim>& in) {
  WindowGrid g;
  const std::vector<Dim> out = window_output(node, w, in);
  for (size_t i = 0; i < in.size(); ++i) {
    g.in.push_back(in[i].value());
    g.out.push_back(out[i].value());
    g.kernel.push_back(w.kernel[i].value());
    int64_t begin = w.pads[i], end = w.pads[in.size() + i];
    if (is_same(w.auto_pad)) {
      const int64_t total = std::max<int64_t>((g.out[i] - 1) * w.strides[i] + reach(w, i).value() - g.in[i], 0);
      begin = w.auto_pad == Window::AutoPad::same_upper ? total / 2 : total - total / 2;
      end = total - begin;
    }
    g.pads_begin.push_back(begin);
    g.pads_end.push_back(end);
  }
  g.strides = w.strides;
  g.dilations = w.dilations;
  element_count(g.out);
  element_count(g.kernel);
  return g;
}

namespace {

// Taps of one dimension that fall inside the input: at most `in` of them, however large the kernel claims to be.
void taps_along(const WindowGrid& g, size_t i, int64_t o, std::vector<Tap>& taps) {
  taps.clear();
  const int64_t start = o * g.strides[i] - g.pads_begin[i], step = g.dilations[i];
  int64_t k = start < 0 ? (-start + step - 1) / step : 0;
  for (; k < g.kernel[i] && start + k * step < g.in[i]; ++k) taps.push_back({k, start + k * step});
}

}  // namespace

void for_each_window(const WindowGrid& g, const std::function<void(int64_t, const std::vector<Tap>&)>& see) {
  const size_t n = g.in.size();
  const int64_t count = element_count(g.out);
  if (element_count(g.in) == 0) {  // nothing inside any window
    for (int64_t o = 0; o < count; ++o) see(o, {});
    return;
  }
  Dims at(n, 0);
  // partial[i]: taps over dimensions 0..i-1; only the dimensions whose coordinate changed are rebuilt
  std::vector<std::vector<Tap>> partial(n + 1);
  partial[0] = {{0, 0}};
  std::vector<Tap> along;
  const auto rebuild = [&](size_t from) {
    for (size_t i = from; i < n; ++i) {
      taps_along(g, i, at[i], along);
      partial[i + 1].clear();
      for (const Tap& outer : partial[i])
        for (const Tap& tap : along)
          partial[i + 1].push_back({outer.kernel * g.kernel[i] + tap.kernel, outer.input * g.in[i] + tap.input});
    }
  };
  size_t changed = 0;
  for (int64_t o = 0; o < count; ++o) {
    rebuild(changed);
    see(o, partial[n]);
    for (changed = n; changed > 0; --changed) {
      if (++at[changed - 1] < g.out[changed - 1]) break;
      at[changed - 1] = 0;
    }
    changed = changed > 0 ? changed - 1 : 0;
  }
}

int64_t padded_taps(const WindowGrid& g, int64_t out) {
  int64_t count = 1;
  for (size_t i = g.in.size(); i-- > 0; out /= g.out[i]) {
    const int64_t start = out % g.out[i] * g.strides[i], end = g.in[i] + g.pads_begin[i] + g.pads_end[i];
    count *= std::clamp<int64_t>((end - start + g.dilations[i] - 1) / g.dilations[i], 0, g.kernel[i]);
  }
  return count;
}

}  // namespace trine
