// Another library that computes the same problems. It sits in a module of its own (build/lib/bench_onednn.so), opened
// with dlopen when asked for, so that neither bench_dnn nor Trine's libraries depend on it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operands.h"

namespace trine::bench {

// One way to run a problem, ready: weights packed, scratch memory allocated.
struct PeerRun {
  std::string implementation;                  // "brgconv:avx512_core nhwc"
  std::function<void()> run;                   // computes once and waits for the end
  std::function<std::vector<float>()> output;  // out[0] in plain layout; null where layouts cannot be compared
  double create_ms = 0;
};

struct Peer {
  std::string version;
  // The same path with next to nothing to compute: what the library's runtime takes to start and to end any run.
  std::function<void()> empty;
  // Every way worth trying; empty with a reason in `why` when there is none.
  std::function<std::vector<PeerRun>(const dnn::Problem&, const Operands&, std::string& why)> prepare;
};

// The function that the module exports.
using OpenPeer = Peer*();
constexpr const char* kOpenPeer = "trine_bench_open_peer";

// Throws Error when the module is not there.
const Peer& open_onednn();

}  // namespace trine::bench
