// Mistakes that a user, a model file or a machine can make, each as a function that ends in an Error.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace trine::test {

struct Mistake {
  std::string key;  // "run.unknown_input"
  std::function<void()> make;
};

// May write small files into the current folder.
std::vector<Mistake> model_mistakes();    // ONNX files
std::vector<Mistake> graph_mistakes();    // graph text, types, operators
std::vector<Mistake> engine_mistakes();   // build options, engine files, inputs of a run
std::vector<Mistake> command_mistakes();  // flags and input files of the command line, environment, devices

}  // namespace trine::test
