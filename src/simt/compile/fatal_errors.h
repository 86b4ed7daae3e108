// LLVM's back ends end the process where they meet what they cannot do. While one of these lives, such an end on this
// thread is Error{unsupported} instead; the module and context at hand are given up with it.
#pragma once

#include <string>

namespace trine::simt {

class FatalErrors {
 public:
  explicit FatalErrors(std::string where);  // of the message
  ~FatalErrors();
  FatalErrors(const FatalErrors&) = delete;
  FatalErrors& operator=(const FatalErrors&) = delete;

 private:
  std::string where_;
  const FatalErrors* outer_;
  static void raise(void*, const char* reason, bool);
};

}  // namespace trine::simt
