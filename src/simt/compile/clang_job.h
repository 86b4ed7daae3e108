// One run of clang's front end: its command line, the files it sees and what it said. Keeps clang's headers out of
// files that need none of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clang {
class FrontendAction;
}

namespace trine::simt {

struct ClangJob {
  std::vector<std::string> arguments;                           // as of clang -cc1; without the input
  std::string main_name;                                        // of the main file, which lies in `files`
  std::vector<std::pair<std::string, std::string_view>> files;  // seen before those on disk; texts outlive the job
};

struct ClangOutcome {
  bool succeeded = false;
  unsigned errors = 0;
  std::string messages;  // one diagnostic after the other, each with its line of source
};

ClangOutcome run_clang(const ClangJob& job, clang::FrontendAction& action);

}  // namespace trine::simt
