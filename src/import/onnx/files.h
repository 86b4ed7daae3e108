// Files a model is made of: mapped read-only, and, for external data, opened strictly beneath the model's folder.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace trine::onnx {

// A file's bytes, mapped while `owner` lives.
struct FileBytes {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};

// Throws Error{io}: what failed, with the system's reason.
FileBytes map_file(const std::string& path);

// The files below one folder. A model may name any file; whoever wrote it must not reach another folder's files, so
// absolute paths, "..", symbolic links, hard links and anything that is no regular file are refused, on the opened
// file.
class DataFolder {
 public:
  explicit DataFolder(std::string folder) : folder_(std::move(folder)) {}  // "": there is none

  // Maps the file at most once. Throws Error{invalid_model} for a refused path, Error{io} when it cannot be read.
  const FileBytes& open(std::string_view location);

 private:
  std::string folder_;
  std::map<std::string, FileBytes, std::less<>> files_;
};

}  // namespace trine::onnx
