// Loop kernels on a device (TRINE_TEST_DEVICE, else the CPU by way of CUDA C++) against the interpreter.
#pragma once

#include <cstdlib>

#include "../codegen/harness.h"
#include "codegen/cuda/render.h"
#include "dnn/device_row.h"

namespace trine::test {

constexpr size_t kGuard = 256;  // bytes on both sides of every operand that must stay as they are
constexpr uint8_t kPoison = 0x5a;

inline compute::Device& device() {
  static compute::Device instance = [] {
    const char* id = std::getenv("TRINE_TEST_DEVICE");
    return compute::Device::open(id ? id : "cpu");
  }();
  return instance;
}

inline compute::DevicePrograms& programs() {
  static compute::DevicePrograms instance(device(), dnn::device_headers());
  return instance;
}

// Memory of the device with guards around it, `shift` bytes off its alignment.
class GuardedBuffer {
 public:
  GuardedBuffer(compute::Stream& stream, size_t bytes, size_t shift)
      : stream_(stream), bytes_(bytes), start_(kGuard + shift), buffer_(device().allocate(2 * kGuard + shift + bytes)) {
    stream.fill(buffer_, kPoison);
  }
  void* data() const { return static_cast<char*>(buffer_.data()) + start_; }
  void upload(const void* from) {
    if (bytes_) stream_.upload(buffer_, start_, from, bytes_);
  }
  void download(void* to) {
    std::vector<uint8_t> all(buffer_.bytes());
    stream_.download(all.data(), buffer_, 0, all.size());
    stream_.synchronize();
    for (size_t i = 0; i < all.size(); ++i) {
      const bool guard = i < start_ || i >= start_ + bytes_;
      ASSERT_TRUE(!guard || all[i] == kPoison) << "guard byte " << i << " of " << all.size() << " was written";
    }
    if (bytes_) std::memcpy(to, all.data() + start_, bytes_);
  }

 private:
  compute::Stream& stream_;
  size_t bytes_, start_;
  compute::Buffer buffer_;
};

struct DeviceOptions {
  codegen::RenderTarget target;
  size_t shift = 0;  // bytes that operands are off their alignment
};

inline std::vector<Tensor> run_on_device(const codegen::Lowered& lowered, const Bindings& bindings,
                                         const std::vector<Tensor>& inputs, const std::vector<Tensor>& like,
                                         const DeviceOptions& options = {}) {
  std::vector<compute::DeviceCall> calls;
  for (const auto& k : lowered.kernels) calls.push_back(codegen::render_cuda(k, bindings, options.target));
  if (std::getenv("TRINE_TEST_PRINT")) {
    for (const auto& c : calls)
      for (const auto& l : c.launches)
        std::printf("grid %u block %ux%u\n%s\n", l.shape.grid.x, l.shape.block.x, l.shape.block.y,
                    l.source->text.c_str());
  }
  std::vector<const compute::DeviceCall*> pointers;
  for (const auto& c : calls) pointers.push_back(&c);
  programs().prepare(pointers);
  compute::Stream stream = device().create_stream();
  std::vector<GuardedBuffer> in, out;
  for (const Tensor& t : inputs) in.emplace_back(stream, t.bytes(), options.shift).upload(t.data());
  for (const Tensor& t : like) out.emplace_back(stream, t.bytes(), options.shift);
  std::vector<GuardedBuffer> held;
  for (const auto& call : calls) {
    held.clear();
    for (const Tensor& t : call.constants) held.emplace_back(stream, t.bytes(), 0).upload(t.data());
    GuardedBuffer workspace(stream, call.workspace_bytes, 0);
    const auto addresses = [&](const compute::OperandRole& role) -> void* {
      using Kind = compute::OperandRole::Kind;
      const auto at = static_cast<size_t>(role.index);
      switch (role.kind) {
        case Kind::in: return in.at(at).data();
        case Kind::out: return out.at(at).data();
        case Kind::constant: return held.at(at).data();
        case Kind::workspace: return workspace.data();
        default: ADD_FAILURE() << "a role that loops do not have"; return nullptr;
      }
    };
    programs().submit(call, addresses, stream);
    stream.synchronize();
    std::vector<uint8_t> unused(call.workspace_bytes);
    workspace.download(unused.data());
  }
  std::vector<Tensor> results;
  for (size_t i = 0; i < like.size(); ++i) {
    results.emplace_back(like[i].dtype(), like[i].dims());
    out[i].download(results[i].mutable_data());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor again(inputs[i].dtype(), inputs[i].dims());
    in[i].download(again.mutable_data());
    EXPECT_TRUE(same_bits(again, inputs[i])) << "input " << i << " was written";
  }
  return results;
}

// Tolerance 0: equal, NaN to NaN and -0 to 0.
inline void expect_device_matches(const std::string& text, const std::vector<Tensor>& inputs, double tolerance,
                                  const Bindings& bindings = no_symbols(), const DeviceOptions& options = {}) {
  const Graph graph = parse(text);
  const codegen::Lowered lowered = codegen::lower_group(graph);
  ASSERT_TRUE(lowered) << lowered.refusal << "\n" << text;
  std::vector<Tensor> like;
  for (Datum& d : evaluate(graph, {inputs.begin(), inputs.end()})) like.push_back(d.tensor());
  const auto want = run_kernels(lowered, bindings, inputs, like);
  for (int multiprocessors : {1, 132}) {  // each leads to schedules of its own
    DeviceOptions with = options;
    with.target.multiprocessors = multiprocessors;
    std::vector<Tensor> got;
    try {
      got = run_on_device(lowered, bindings, inputs, like, with);
    } catch (const Error& e) {
      FAIL() << e.what() << "\n" << lowered.kernels[0].text() << text;
    }
    for (size_t i = 0; i < want.size(); ++i)
      expect_close(got[i], want[i], tolerance,
                   "output " + std::to_string(i) + " with " + std::to_string(multiprocessors) + " multiprocessors\n" +
                       lowered.kernels[0].text() + graph.text());
  }
}

}  // namespace trine::test
