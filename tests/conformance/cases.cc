#include "cases.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "trine/base/error.h"

namespace trine::conformance {
namespace {

// name, operator, rtol, atol, data sets. A case without a set would compare nothing.
Case read_case(const std::string& path, const std::string& line) {
  Case c;
  std::istringstream in(line);
  std::string rest;
  if (!(in >> c.name >> c.op >> c.tolerance.relative >> c.tolerance.absolute >> c.sets) || c.sets < 1 || in >> rest)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: '{}'; a line is name, operator, rtol, atol and a number of data sets >= 1", path, line));
  return c;
}

}  // namespace

CaseList read_cases(const std::string& data, const std::string& filter) {
  const std::string path = data + "/cases.txt";
  std::ifstream file(path);
  CaseList list;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("# ")) {
      list.onnx_version = line.substr(2);
      continue;
    }
    Case c = read_case(path, line);
    if (c.name.find(filter) != std::string::npos) list.cases.push_back(std::move(c));
  }
  if (list.cases.empty()) throw Error(ErrorCode::io, path + ": no case; run onnx_backend.py first");
  return list;
}

}  // namespace trine::conformance
