// What `trine inspect` tells of a model or an engine: one JSON object, and the same for people.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "trine/engine/build.h"
#include "trine/engine/inspect.h"

namespace trine::cli {

using Json = nlohmann::ordered_json;

// "f32[N,3]" -> {"dtype": "f32", "shape": ["N", 3]}; a shape of unknown rank is null.
Json to_json(const Type& type);
Json to_json(const GraphInfo& graph);
Json to_json(const PlanInfo& plan);  // the steps
Json arena_json(const PlanInfo& plan);

// What a graph holds, its bodies included.
struct GraphCounts {
  size_t nodes = 0, body_nodes = 0;  // in the graph itself; in its bodies
  std::map<std::string, size_t> operators;
  size_t parameters = 0;    // elements of constants but indices (i64), truth values and strings
  size_t weight_bytes = 0;  // of all constants
};
GraphCounts counts_of(const GraphInfo& graph);

Json model_report(const std::string& path, const Model& model);
Json engine_report(const std::string& path, const Engine& engine, const std::map<std::string, int64_t>& sizes,
                   const std::string& device = "cpu");

// The report of either as lines.
std::string report_text(const Json& report);

}  // namespace trine::cli
