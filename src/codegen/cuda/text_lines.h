// Lines of code, indented.
#pragma once

#include <string>

namespace trine::codegen {

class TextLines {
 public:
  void line(const std::string& text) { out_.append(static_cast<size_t>(2 * depth_), ' ').append(text).append("\n"); }
  void open(const std::string& text) {
    line(text + " {");
    ++depth_;
  }
  void close() {
    --depth_;
    line("}");
  }
  const std::string& text() const { return out_; }

 private:
  std::string out_;
  int depth_ = 1;
};

}  // namespace trine::codegen
