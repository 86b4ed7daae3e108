// The one exception type. A caller's mistake or a machine's failure throws Error; a bug of ours stops the program
// through TRINE_CHECK. Messages read `<where>: <what was got>; <what is accepted or what to do>`.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace trine {

// Each code is also the process exit status of the command line; see docs/errors.md. Values never change.
enum class ErrorCode {
  invalid_argument = 2,  // wrong flag, wrong input name, shape or dtype
  invalid_model = 3,     // the model file is damaged or breaks the ONNX rules
  unsupported = 4,       // correct, but not implemented
  invalid_engine = 5,    // damaged or foreign engine file
  io = 6,                // cannot open, read or write
  out_of_memory = 7,     // wanted bytes exceed what is there or allowed
  mismatch = 8,          // compare, --check or verify found a difference
  device = 9,            // no such device, or it failed
  timeout = 10,          // a run took longer than it was allowed to
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }
  // "TRN-0003": stable, has a page in docs/errors.md.
  std::string code_text() const;

 private:
  ErrorCode code_;
};

// Stops the program, printing the text: our own invariant does not hold.
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const std::string& values);

}  // namespace trine

#define TRINE_CHECK(condition, ...)                                                      \
  do {                                                                                   \
    if (!(condition)) [[unlikely]]                                                       \
      ::trine::check_failed(#condition, __FILE__, __LINE__, ::std::string{__VA_ARGS__}); \
  } while (false)
