// nvrtc.h over compile_program().
#include <nvrtc.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "simt/run/find_kernel.h"
#include "simt/run/program.h"
#include "trine/base/error.h"
#include "trine/compute/program.h"

struct _nvrtcProgram {
  std::string source, bytes, log;
  trine::compute::CompileOptions options;
  std::map<std::string, std::string> lowered;  // names of instances to symbols
  bool compiled = false;
};

namespace {

using trine::compute::CompileOptions;

// "--name=value" or "-Xvalue", or the value is the next word.
bool take(std::string_view word, std::string_view name, int& i, int count, const char* const* words,
          std::string& value) {
  if (!word.starts_with(name)) return false;
  word.remove_prefix(name.size());
  if (word.empty() && i + 1 < count) word = words[++i];
  else if (word.starts_with('=')) word.remove_prefix(1);
  value = word;
  return !value.empty();
}

bool is_idle(std::string_view word) {
  constexpr std::string_view kIdle[] = {"--gpu-architecture",
                                        "-arch",
                                        "--maxrregcount",
                                        "-default-device",
                                        "--device-as-default-execution-space",
                                        "--extra-device-vectorization",
                                        "-lineinfo",
                                        "--generate-line-info",
                                        "--fmad=true",
                                        "--restrict"};
  return std::any_of(std::begin(kIdle), std::end(kIdle), [&](std::string_view name) { return word.starts_with(name); });
}

bool read_option(CompileOptions& to, int& i, int count, const char* const* words) {
  const std::string_view word = words[i];
  std::string value;
  if (take(word, "--std", i, count, words, value) || take(word, "-std", i, count, words, value)) {
    to.standard = value.ends_with("20") ? 20 : value.ends_with("17") ? 17 : 14;
    return true;
  }
  if (word == "--use_fast_math" || word == "-use_fast_math") return to.fast_math = true;
  if (word == "-G" || word == "--device-debug") return to.debug = true;
  for (const char* name : {"-I", "--include-path"})
    if (take(word, name, i, count, words, value)) return to.include_dirs.push_back(value), true;
  for (const char* name : {"-D", "--define-macro"})
    if (take(word, name, i, count, words, value)) return to.defines.push_back(value), true;
  return is_idle(word);
}

nvrtcResult compile(_nvrtcProgram& program) {
  try {
    auto made = trine::compute::compile_program(program.source, program.options);
    program.log = made.warnings;
    program.bytes = std::move(made.bytes);
    const trine::simt::Program parts = trine::simt::decode_program(program.bytes);
    for (const std::string& name : program.options.instances)
      if (const auto* kernel = trine::simt::find_kernel(parts.module, name)) program.lowered[name] = kernel->symbol;
    program.compiled = true;
    return NVRTC_SUCCESS;
  } catch (const trine::Error& error) {
    program.log = error.what();
    return NVRTC_ERROR_COMPILATION;
  } catch (const std::bad_alloc&) {
    return NVRTC_ERROR_OUT_OF_MEMORY;
  }
}

nvrtcResult size_of(const std::string& text, size_t* bytes) {
  if (!bytes) return NVRTC_ERROR_INVALID_INPUT;
  *bytes = text.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult copy(const std::string& text, char* to) {
  if (!to) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return NVRTC_SUCCESS;
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) {
  switch (result) {
    case NVRTC_SUCCESS: return "NVRTC_SUCCESS";
    case NVRTC_ERROR_OUT_OF_MEMORY: return "NVRTC_ERROR_OUT_OF_MEMORY";
    case NVRTC_ERROR_PROGRAM_CREATION_FAILURE: return "NVRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case NVRTC_ERROR_INVALID_INPUT: return "NVRTC_ERROR_INVALID_INPUT";
    case NVRTC_ERROR_INVALID_PROGRAM: return "NVRTC_ERROR_INVALID_PROGRAM";
    case NVRTC_ERROR_INVALID_OPTION: return "NVRTC_ERROR_INVALID_OPTION";
    case NVRTC_ERROR_COMPILATION: return "NVRTC_ERROR_COMPILATION";
    case NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION: return "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
    case NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION: return "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    case NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID: return "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    default: return "NVRTC_ERROR_INTERNAL_ERROR";
  }
}
nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
  *major = 12;
  *minor = 8;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* out, const char* source, const char* name, int count,
                               const char* const* headers, const char* const* names) {
  if (!out || !source || count < 0 || (count && (!headers || !names))) return NVRTC_ERROR_INVALID_INPUT;
  auto program = std::make_unique<_nvrtcProgram>();
  program->source = source;
  program->options.standard = 17;
  program->options.name = name && *name ? name : "default_program";
  for (int i = 0; i < count; ++i) program->options.headers.emplace_back(names[i], headers[i]);
  *out = program.release();
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (!program || !*program) return NVRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  for (int i = 0; i < count; ++i) {
    if (read_option(program->options, i, count, options)) continue;
    program->log = std::string("option '") + options[i] + "' is not known";
    return NVRTC_ERROR_INVALID_OPTION;
  }
  return compile(*program);
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* bytes) {
  return program && program->compiled ? size_of(program->bytes, bytes) : NVRTC_ERROR_INVALID_PROGRAM;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* to) {
  return program && program->compiled ? copy(program->bytes, to) : NVRTC_ERROR_INVALID_PROGRAM;
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) {
  return program ? size_of(program->log, bytes) : NVRTC_ERROR_INVALID_PROGRAM;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* to) {
  return program ? copy(program->log, to) : NVRTC_ERROR_INVALID_PROGRAM;
}
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* name) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  if (program->compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  if (!name) return NVRTC_ERROR_INVALID_INPUT;
  program->options.instances.emplace_back(*name == '&' ? name + 1 : name);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* name, const char** out) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!name || !out) return NVRTC_ERROR_INVALID_INPUT;
  if (!program->compiled) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  const auto found = program->lowered.find(*name == '&' ? name + 1 : name);
  if (found == program->lowered.end()) return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
  *out = found->second.c_str();
  return NVRTC_SUCCESS;
}
}
