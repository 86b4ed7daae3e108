// Converter: the graphs and functions of one model into a Graph. Internal to the importer.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/onnx/attributes.h"
#include "import/onnx/proto.h"
#include "import/onnx/report.h"
#include "import/onnx/versions.h"
#include "import/onnx/writer.h"

namespace trine::onnx {

// What the text of a node means where it stands: in the model, or inside a function that a node calls.
struct Environment {
  std::map<std::string_view, int64_t> opsets;       // by domain
  std::map<std::string_view, Bytes> arguments;      // the function's attributes, as AttributeProto
  std::string prefix;                               // of the names of values and nodes
  std::map<std::string_view, std::string> results;  // names that the caller gives to the function's outputs
  int depth = 0;                                    // functions and graphs around
};

// A value that a body takes from the graph around it, and the body's input that stands for it.
struct Capture {
  ValueId outer, inner;
};

// Names of one graph or function body -> values.
struct Scope {
  GraphWriter& writer;
  Scope* outer = nullptr;                    // where other names are looked up, in another graph; null: nowhere
  std::vector<Capture>* captures = nullptr;  // with `outer`: what was taken from there
  std::unordered_map<std::string_view, ValueId> values;
};

class Converter {
 public:
  Converter(TensorReader& tensors, DimNames& names, Budget& budget)
      : tensors_(tensors), names_(names), budget_(budget) {}

  // A function that nodes may call.
  void add_function(Bytes bytes);

  // Converts initialisers, inputs, nodes and outputs into scope.writer. `is_body`: inputs are declared by the operator.
  void convert_graph(const ProtoGraph& proto, Scope& scope, const Environment& environment, bool is_body);
  const Report& report() const { return report_; }

 private:
  struct Function {
    ProtoFunction proto;
    std::vector<size_t> order;
    bool active = false;  // being inlined: a call from within is a recursion
  };
  struct PendingBody {
    std::unique_ptr<GraphWriter> writer;
    std::vector<Capture> captures;
  };

  void convert_initializers(const ProtoGraph& proto, Scope& scope);
  void convert_inputs(const ProtoGraph& proto, Scope& scope, bool is_body);
  void convert_node(const ProtoNode& proto, Scope& scope, const Environment& environment);
  void convert_operator(const ProtoNode& proto, Scope& scope, const Environment& environment,
                        std::vector<ValueId>& inputs);
  void convert_constant(const ProtoNode& proto, Scope& scope, const Environment& environment);
  std::vector<ValueId> resolve_inputs(const ProtoNode& proto, Scope& scope) const;

  // Attributes into node.attrs, graphs into node.bodies and node.captures.
  void read_attributes(const ProtoNode& proto, int64_t version, Scope& scope, const Environment& environment,
                       ImportNode& node);
  PendingBody convert_body(Bytes bytes, Scope& scope, const Environment& environment);
  void attach_bodies(std::vector<PendingBody> bodies, Scope& scope, ImportNode& node);

  // functions.cc
  Function* find_function(const ProtoNode& node);
  void call_function(Function& function, const ProtoNode& call, Scope& scope, const Environment& environment,
                     const std::vector<ValueId>& inputs);
  Environment environment_of(const Function& function, const ProtoNode& call, const Environment& caller) const;

  TensorReader& tensors_;
  DimNames& names_;
  Budget& budget_;
  Report report_;
  std::map<std::string, Function, std::less<>> functions_;  // by domain, name and overload
};

// The value that `name` means in `scope`, taken from an outer graph where it must be (kNoValue: an argument that the
// function's caller left out); nothing when there is none.
std::optional<ValueId> resolve(Scope& scope, std::string_view name);

}  // namespace trine::onnx
