// Other runtimes, measured and compared in the same call: each is a Python process that answers over pipes.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trine/base/tensor.h"

namespace trine::cli {

bool is_peer(const std::string& name);  // "onnxruntime", "openvino", "ncnn", "torch"
std::string peer_names();
void check_peer(const std::string& name);  // Error{invalid_argument} when it is none

// The ONNX file that a peer runs for MODEL|ENGINE: the model itself, `given`, or the .onnx beside the engine. Throws
// Error{invalid_argument} when there is none.
std::string source_model(const std::string& model, const std::string& given);

// The interpreter: $TRINE_PYTHON, else .venv/bin/python here or above this program's folder, else python3.
std::string python_path();
// Of the peers that it has, and of numpy, which all need; nothing when there is no such interpreter.
std::map<std::string, std::string> peer_versions();

class Peer {
 public:
  // Starts the process and loads the model with these inputs. Throws Error{unsupported} when the runtime is not
  // installed.
  Peer(const std::string& name, const std::string& model, int threads, const std::map<std::string, Tensor>& inputs);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  std::vector<double> run(int times);       // milliseconds of each
  std::map<std::string, Tensor> outputs();  // of one run; outputs that are no tensors are left out

 private:
  Peer() = default;
  nlohmann::json ask(const nlohmann::json& question);

  std::string name_, version_, folder_;
  pid_t process_ = -1;
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
};

}  // namespace trine::cli
