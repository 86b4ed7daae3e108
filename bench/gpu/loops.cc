// Times loop kernels on a device: `bench_gpu_loops [--device cuda:0] [--only TEXT] [--overlap] [--bytes 16] [--print]
// [--ptx sm_90,FOLDER]`.
//
// `--overlap`: launches begin before the one before is done, and wait (compute capability 9.0). `--bytes`: that a
// thread takes of an operand at once. Each line is one fused group: launches in a captured graph, many of them one
// behind the other, between two events. GB/s counts every input and output once. Small ones stay in the L2 cache.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "codegen/cuda/render.h"
#include "device_bench.h"
#include "graph/infer.h"
#include "trine/base/error.h"
#include "trine/compute/program.h"

namespace {

using namespace trine;

struct Case {
  const char* name;
  std::vector<std::string> inputs;  // shapes; T is the type that is run through
  const char* nodes;
};

const Case kCases[] = {
    {"relu 1x56x56x256", {"T[802816]"}, "%r = relu %x"},
    {"relu 64M", {"T[67108864]"}, "%r = relu %x"},
    {"add+relu 1x56x56x256", {"T[802816]", "T[802816]"}, "%a = add %x %y;%r = relu %a"},
    {"add+relu 64M", {"T[67108864]", "T[67108864]"}, "%a = add %x %y;%r = relu %a"},
    {"bias+gelu 128x3072", {"T[128,3072]", "T[3072]"}, "%a = add %x %y;%r = gelu %a"},
    {"bias+gelu 16384x3072", {"T[16384,3072]", "T[3072]"}, "%a = add %x %y;%r = gelu %a"},
    {"softmax 12x128x128", {"T[12,128,128]"}, "%r = softmax %x {axis=-1}"},
    {"softmax 8192x1024", {"T[8192,1024]"}, "%r = softmax %x {axis=-1}"},
    {"softmax 512x32000", {"T[512,32000]"}, "%r = softmax %x {axis=-1}"},
    {"softmax over 84 of 8x84x8400", {"T[8,84,8400]"}, "%r = softmax %x {axis=1}"},
    {"layernorm 128x768", {"T[128,768]", "T[768]", "T[768]"}, "%r = layer_normalization %x %y %z {axis=-1}"},
    {"layernorm 16384x768", {"T[16384,768]", "T[768]", "T[768]"}, "%r = layer_normalization %x %y %z {axis=-1}"},
    {"layernorm 8192x4096", {"T[8192,4096]", "T[4096]", "T[4096]"}, "%r = layer_normalization %x %y %z {axis=-1}"},
    {"mean of pixels 1x7x7x2048", {"T[1,7,7,2048]"}, "%p = const i64[2]{1,2};%r = reduce_mean %x %p {keepdims=1}"},
    {"mean of pixels 32x7x7x2048", {"T[32,7,7,2048]"}, "%p = const i64[2]{1,2};%r = reduce_mean %x %p {keepdims=1}"},
    {"mean of pixels 1x112x112x32", {"T[1,112,112,32]"}, "%p = const i64[2]{1,2};%r = reduce_mean %x %p {keepdims=1}"},
    {"mean of pixels 32x2048x7x7", {"T[32,2048,7,7]"}, "%p = const i64[2]{2,3};%r = reduce_mean %x %p {keepdims=1}"},
    {"sum of 64M", {"T[67108864]"}, "%p = const i64[1]{0};%r = reduce_sum %x %p {keepdims=1}"},
    {"sums of 16x4M", {"T[16,4194304]"}, "%p = const i64[1]{1};%r = reduce_sum %x %p {keepdims=1}"},
    {"nchw to nhwc 32x256x56x56", {"T[32,256,56,56]"}, "%r = transpose %x {perm=[0,2,3,1]}"},
    {"nhwc to nchw 32x56x56x256", {"T[32,56,56,256]"}, "%r = transpose %x {perm=[0,3,1,2]}"},
    {"transpose+add+relu 8192x8192",
     {"T[8192,8192]", "T[8192,8192]"},
     "%a = transpose %x {perm=[1,0]};%b = add %a %y;%r = relu %b"},
};

struct Options {
  std::string device = "cuda:0", only, architecture, folder;
  bool print = false, overlap = false;
  int pack_bytes = 16;
};

std::string graph_text(const Case& c, const std::string& type) {
  std::string text = "graph(";
  for (size_t i = 0; i < c.inputs.size(); ++i)
    text += fmt::format("{}%{}: {}{}", i ? ", " : "", "xyzw"[i], type, c.inputs[i].substr(1));
  text += ") {\n";
  for (char ch : std::string(c.nodes) + ";") ch == ';' ? text += "\n" : text += ch;
  return text + "return %r\n}\n";
}

size_t bytes_of(const Type& type) {
  size_t bytes = byte_size(type.dtype);
  for (int64_t d : type.shape.static_dims()) bytes *= static_cast<size_t>(d);
  return bytes;
}

int multiprocessors_of(const compute::Device& device) {
  return device.info().id == "cpu" ? 132 : device.info().compute_units;
}

struct Prepared {
  std::vector<compute::DeviceCall> calls;
  Graph graph;
};

Prepared prepare(const Case& c, const std::string& type, const Options& options, int multiprocessors) {
  Prepared p;
  p.graph = Graph::parse(graph_text(c, type));
  infer_shapes(p.graph);
  const codegen::Lowered lowered = codegen::lower_group(p.graph);
  if (!lowered) throw Error(ErrorCode::unsupported, lowered.refusal);
  const codegen::RenderTarget target{
      .multiprocessors = multiprocessors, .pack_bytes = options.pack_bytes, .overlap = options.overlap};
  for (const auto& k : lowered.kernels)
    p.calls.push_back(codegen::render_cuda(k, [](std::string_view) { return std::optional<int64_t>(); }, target));
  if (!options.print && options.folder.empty()) return p;
  int number = 0;
  for (const auto& call : p.calls)
    for (const auto& launch : call.launches) {
      if (options.print)
        std::printf("// %s %s: grid %u, block %u x %u\n%s\n", c.name, type.c_str(), launch.shape.grid.x,
                    launch.shape.block.x, launch.shape.block.y, launch.source->text.c_str());
      if (options.folder.empty()) continue;
      compute::CompileOptions compile{.name = launch.source->name, .headers = dnn::device_headers()};
      std::string name = fmt::format("{}/{}_{}_{}.bin", options.folder, c.name, type, number++);
      std::replace(name.begin() + static_cast<std::ptrdiff_t>(options.folder.size()), name.end(), ' ', '_');
      std::ofstream(name) << compute::compile_program(launch.source->text, compile, {options.architecture}).bytes;
    }
  return p;
}

void measure(const Case& c, const std::string& type, const Prepared& p, bench::DeviceBench& bench) {
  std::vector<compute::Buffer> in, out, constants;
  size_t bytes = 0, workspace_bytes = 0, launches = 0;
  for (ValueId v : p.graph.inputs) {
    const Type& t = p.graph.type(v);
    in.push_back(bench.uploaded(bench::random_content(t.dtype, element_count(t.shape.static_dims()))));
    bytes += bytes_of(t);
  }
  for (ValueId v : p.graph.outputs) {
    out.push_back(bench.room(bytes_of(p.graph.type(v))));
    bytes += bytes_of(p.graph.type(v));
  }
  for (const auto& call : p.calls) {
    workspace_bytes = std::max(workspace_bytes, call.workspace_bytes);
    launches += call.launches.size();
    for (const Tensor& t : call.constants) {
      const auto* data = static_cast<const char*>(t.data());
      constants.push_back(bench.uploaded({data, data + t.bytes()}));
    }
  }
  const compute::Buffer workspace = bench.room(workspace_bytes);
  const auto submit = [&] {
    size_t first_constant = 0;
    for (const auto& call : p.calls) {
      const auto address = [&](const compute::OperandRole& role) -> void* {
        const auto i = static_cast<size_t>(role.index);
        switch (role.kind) {
          case compute::OperandRole::Kind::in: return in[i].data();
          case compute::OperandRole::Kind::out: return out[i].data();
          case compute::OperandRole::Kind::constant: return constants[first_constant + i].data();
          default: return workspace.data();
        }
      };
      bench.programs().submit(call, address, bench.stream());
      first_constant += call.constants.size();
    }
  };
  const double each = bench.seconds_of(submit, bytes > (size_t{64} << 20) ? 10 : 100);
  const auto& first = p.calls.at(0).launches.at(0).shape;
  std::printf("%-32s %-5s %9.2f us %8.0f GB/s   %zu launches, first %u of %u x %u\n", c.name, type.c_str(), each * 1e6,
              static_cast<double>(bytes) / each * 1e-9, launches, first.grid.x, first.block.x, first.block.y);
  std::fflush(stdout);
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const auto value = [&] {
      if (i + 1 >= argc) throw Error(ErrorCode::invalid_argument, std::string(flag) + " wants a value");
      return std::string(argv[++i]);
    };
    if (flag == "--device") o.device = value();
    else if (flag == "--only") o.only = value();
    else if (flag == "--print") o.print = true;
    else if (flag == "--overlap") o.overlap = true;
    else if (flag == "--bytes") o.pack_bytes = std::stoi(value());
    else if (flag == "--ptx") {
      const std::string both = value();
      o.architecture = both.substr(0, both.find(','));
      o.folder = both.substr(both.find(',') + 1);
    } else throw Error(ErrorCode::invalid_argument, "bench_gpu_loops: no flag " + std::string(flag));
  }
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::told("bench_gpu_loops", [&] {
    const Options options = parse(argc, argv);
    const bool measures = !options.print && options.folder.empty();
    bench::DeviceBench bench(measures ? options.device : "cpu");
    for (const Case& c : kCases)
      for (const char* type : {"f32", "f16"}) {
        if (!options.only.empty() && std::string_view(c.name).find(options.only) == std::string_view::npos) continue;
        const Prepared p = prepare(c, type, options, multiprocessors_of(bench.device()));
        if (measures) measure(c, type, p, bench);
      }
  });
}
