#include "peers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "media/npy.h"
#include "model_file.h"
#include "peer_worker.h"
#include "trine/base/env.h"
#include "trine/base/error.h"

namespace trine::cli {
namespace {

constexpr const char* kPeers[] = {"onnxruntime", "openvino", "ncnn", "torch"};

std::string make_folder() {
  std::string folder = (std::filesystem::temp_directory_path() / "trine-peer-XXXXXX").string();
  if (!::mkdtemp(folder.data())) throw Error(ErrorCode::io, fmt::format("{}: cannot make; set TMPDIR", folder));
  return folder;
}

struct Process {
  pid_t id;
  FILE *to, *from;
};

Process start_python(const std::string& python, const char* program) {
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) {
    throw Error(ErrorCode::io, "pipe: cannot make; close other programs");
  }
  const pid_t id = ::fork();
  if (id < 0) throw Error(ErrorCode::io, "fork: cannot start a process; close other programs");
  if (id == 0) {
    ::dup2(to[0], 0);
    ::dup2(from[1], 1);
    ::execlp(python.c_str(), python.c_str(), "-c", program, static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  return {id, ::fdopen(to[1], "w"), ::fdopen(from[0], "r")};
}

// A line of an answer; empty when the process has ended.
std::string read_line(FILE* from) {
  std::string line;
  for (int c = std::fgetc(from); c != EOF && c != '\n'; c = std::fgetc(from)) line.push_back(static_cast<char>(c));
  return line;
}

}  // namespace

// Beside the working directory, else beside the project or installation that this program lies in.
std::string python_path() {
  const std::string wanted = env_text("TRINE_PYTHON");
  if (!wanted.empty()) return wanted;
  constexpr const char* kOwn = ".venv/bin/python";
  std::error_code ignored;
  if (std::filesystem::exists(kOwn, ignored)) return kOwn;
  auto folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (; !folder.empty() && folder != folder.root_path(); folder = folder.parent_path())
    if (std::filesystem::exists(folder / kOwn, ignored)) return (folder / kOwn).string();
  return "python3";
}

std::map<std::string, std::string> peer_versions() {
  const Process process = start_python(python_path(), kPeerWorker);
  std::signal(SIGPIPE, SIG_IGN);
  std::fputs("{\"do\": \"versions\"}\n", process.to);
  std::fclose(process.to);
  const auto answer = nlohmann::json::parse(read_line(process.from), nullptr, false);
  std::fclose(process.from);
  ::waitpid(process.id, nullptr, 0);
  std::map<std::string, std::string> versions;
  if (!answer.is_object() || !answer.contains("versions")) return versions;
  for (const auto& [name, version] : answer["versions"].items()) versions[name] = version.get<std::string>();
  return versions;
}

bool is_peer(const std::string& name) {
  return std::any_of(std::begin(kPeers), std::end(kPeers), [&](const char* p) { return name == p; });
}

void check_peer(const std::string& name) {
  if (is_peer(name)) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("--against {}: accepted: {}", name, peer_names()));
}

std::string peer_names() { return fmt::format("{}", fmt::join(kPeers, ", ")); }

std::string source_model(const std::string& model, const std::string& given) {
  if (!given.empty() && !std::filesystem::exists(given))
    throw Error(ErrorCode::io, fmt::format("--peer-model {}: no such file; give the engine's ONNX file", given));
  if (!given.empty()) {
    refuse_engine(given, "--peer-model");
    return given;
  }
  if (!is_engine_file(model)) return model;
  const std::string beside = std::filesystem::path(model).replace_extension(".onnx").string();
  if (std::filesystem::exists(beside)) return beside;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: an engine, and no {} beside it; give its ONNX file with --peer-model", model, beside));
}

Peer::Peer(const std::string& name, const std::string& model, int threads, const std::map<std::string, Tensor>& inputs)
    : Peer() {  // complete from here on: what throws below is cleaned up by the destructor
  name_ = name;
  check_peer(name);
  std::signal(SIGPIPE, SIG_IGN);  // a peer that dies is an error message, not our death
  const std::string python = python_path();
  const Process process = start_python(python, kPeerWorker);
  process_ = process.id;
  to_ = process.to;
  from_ = process.from;
  folder_ = make_folder();
  nlohmann::json files = nlohmann::json::object();
  for (const auto& [input, tensor] : inputs) {
    const std::string file = fmt::format("{}/input{}.npy", folder_, files.size());
    media::save_npy(file, tensor);
    files[input] = file;
  }
  const auto answer =
      ask({{"do", "open"}, {"runtime", name}, {"model", model}, {"threads", threads}, {"inputs", files}});
  version_ = answer.at("version").get<std::string>();
}

Peer::~Peer() {
  if (to_) std::fclose(to_);
  if (from_) std::fclose(from_);
  if (process_ > 0) ::waitpid(process_, nullptr, 0);
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

nlohmann::json Peer::ask(const nlohmann::json& question) {
  const std::string line = question.dump() + "\n";
  std::string answer;
  if (std::fputs(line.c_str(), to_) >= 0 && std::fflush(to_) == 0) answer = read_line(from_);
  const auto json = nlohmann::json::parse(answer, nullptr, false);
  if (!json.is_object()) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format("{}: {} gave no answer; it needs Python 3 with numpy, or set TRINE_PYTHON", name_, python_path()));
  }
  if (json.contains("missing")) {
    throw Error(ErrorCode::unsupported, fmt::format("{}: {}; install it for {}, or set TRINE_PYTHON", name_,
                                                    json["missing"].get<std::string>(), python_path()));
  }
  if (json.contains("error")) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: {}; it cannot run this model", name_, json["error"].get<std::string>()));
  }
  return json;
}

std::vector<double> Peer::run(int times) { return ask({{"do", "run"}, {"times", times}}).at("ms"); }

std::map<std::string, Tensor> Peer::outputs() {
  std::map<std::string, Tensor> tensors;
  const auto answer = ask({{"do", "outputs"}, {"folder", folder_}});
  for (const auto& [name, file] : answer.at("outputs").items())
    tensors[name] = media::load_npy(file.get<std::string>());
  return tensors;
}

}  // namespace trine::cli
