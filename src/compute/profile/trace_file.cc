// The trace: Chrome's JSON, one event a line. Process 32 p is the host of process p with a track for each thread,
// 32 p + 1 the same threads as they run blocks, 32 p + 2 + d device d with a track for each stream. Slices are complete
// events ("X") of nanoseconds that were taken one after the other, so that those of a track nest. The last part,
// "trine", is the table as docs/profiling.md describes it.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>

#include "compute/profile/json_out.h"
#include "compute/profile/totals.h"

namespace trine::compute::profile {

const char* kind_of(What what) {
  constexpr const char* kKinds[] = {"kernel",      "blocks", "copy",    "fill",  "allocate", "free",
                                    "synchronize", "graph",  "compile", "range", "mark",     "device"};
  return kKinds[static_cast<int>(what)];
}

namespace {

constexpr uint64_t kGroups = 32;
constexpr size_t kMostStreams = 256;

struct StreamTrack {
  uint8_t device;
  StreamHandle handle;
};

// Of the writer's, which is one at a time.
struct Writer {
  JsonOut out;
  Clock clock;
  uint64_t host, now;
  StreamTrack streams[kMostStreams];
  size_t stream_count = 0;
  bool first_line = true;

  // Streams are numbered as they are first met; those past the last share its track.
  uint64_t stream_number(uint8_t device, StreamHandle handle) {
    for (size_t i = 0; i < stream_count; ++i)
      if (streams[i].device == device && streams[i].handle == handle) return i + 1;
    if (stream_count < kMostStreams) streams[stream_count++] = {device, handle};
    return stream_count;
  }

  void open(const char* phase, uint64_t pid, uint64_t tid) {
    out.raw(first_line ? "{\"ph\":\"" : ",\n{\"ph\":\"")
        .raw(phase)
        .raw("\",\"pid\":")
        .number(pid)
        .raw(",\"tid\":")
        .number(tid);
    first_line = false;
  }
  void name_of(const char* what, uint64_t pid, uint64_t tid, const char* name, uint64_t number = 0) {
    char text[300];
    if (number) std::snprintf(text, sizeof text, "%s %llu", name, static_cast<unsigned long long>(number));
    else std::snprintf(text, sizeof text, "%s", name);
    open("M", pid, tid);
    out.key("name").string(what).raw(",\"args\":{\"name\":").string(text).raw("}}");
  }
  void time(const char* key, uint64_t ticks) { out.key(key).microseconds(clock.ns(ticks)); }

  void shape(const TraceEvent& e) {
    const auto triple = [&](const char* key, const uint32_t (&v)[3]) {
      out.key(key).raw("[").number(v[0]).raw(",").number(v[1]).raw(",").number(v[2]).raw("]");
    };
    triple("grid", e.shape.grid);
    triple("block", e.shape.block);
    out.key("shared_bytes").number(e.shape.shared_bytes);
    if (e.mode != RunsIn::unknown) out.key("mode").string(e.mode == RunsIn::lanes ? "lanes" : "threads");
    if (e.width) out.key("width").number(e.width);
    if (e.bytes) out.key("bytes").number(e.bytes);
    if (e.flops > 0) out.key("flops").real(e.flops);
    if (e.ready > e.begin) out.key("compile_us").microseconds(clock.ns(e.ready) - clock.ns(e.begin));
  }

  void blocks(const TraceEvent& e) {
    out.key("count").number(e.count).key("blocks").raw("\"");
    for (int i = 0; i < e.ranges; ++i) {
      if (i) out.raw(",");
      out.number(e.range[i].first);
      if (e.range[i].count > 1) out.raw("-").number(uint64_t{e.range[i].first} + e.range[i].count - 1);
    }
    out.raw(e.ranges == kBlockRanges ? ",...\"" : "\"");
  }

  void arguments(const TraceEvent& e, bool unfinished) {
    out.raw(",\"args\":{\"failed\":").raw(e.failed ? "true" : "false");
    if (unfinished) out.raw(",\"unfinished\":true");
    if (e.captured) out.raw(",\"captured\":true");
    if (e.device != kNoDevice && e.what != What::range && e.what != What::mark) {
      out.key("device").string(device_row(e.device).label);
      if (e.stream) out.key("stream").number(stream_number(e.device, e.stream));
    }
    const What kind = e.what == What::device_range ? e.name->what : e.what;
    if (kind == What::launch) shape(e);
    if (kind == What::blocks) blocks(e);
    if (kind == What::graph) out.key("kernels").number(e.count);
    if (kind == What::compile) out.key("cache").string(e.cached ? "hit" : "miss");
    if (kind == What::copy || kind == What::fill || kind == What::allocate || kind == What::free)
      out.key("bytes").number(e.bytes);
    out.raw("}}");
  }

  // A launch and what runs it are joined by an arrow; its number is of 52 bits, which every reader keeps.
  void arrow(const TraceEvent& e, uint64_t pid, uint64_t tid, bool begins) {
    if (!e.flow) return;
    open(begins ? "s" : "f", pid, tid);
    if (!begins) out.raw(",\"bp\":\"e\"");
    time("ts", begins && e.ready ? e.ready : e.begin);
    out.raw(",\"cat\":\"flow\",\"name\":\"runs\",\"id\":").number(host / kGroups % 4096 << 40 | e.flow).raw("}");
  }

  void event(const ThreadLog& log, const TraceEvent& e, bool unfinished = false) {
    const bool on_device = e.what == What::device_range;
    const uint64_t pid = on_device ? host + 2 + e.device : host + (e.what == What::blocks);
    const uint64_t tid = on_device ? stream_number(e.device, e.stream) : log.number;
    open(e.what == What::mark ? "i" : "X", pid, tid);
    time("ts", e.begin);
    if (e.what == What::mark) out.raw(",\"s\":\"t\"");
    else out.raw(",\"dur\":").microseconds(clock.ns(unfinished ? std::max(now, e.begin) : e.end) - clock.ns(e.begin));
    out.key("cat").string(kind_of(on_device ? e.name->what : e.what)).key("name");
    if (e.name) out.string(e.name->text);
    else out.string(kind_of(e.what));
    arguments(e, unfinished);
    const bool runs = on_device || e.what == What::blocks;
    const bool begins = !e.captured && (e.what == What::launch || !e.immediate);
    if (runs || begins) arrow(e, pid, tid, begins && !runs);
    if (e.what == What::allocate || e.what == What::free) counter(e);
  }

  void counter(const TraceEvent& e) {
    if (!e.address || e.failed) return;
    open("C", host + 2 + e.device, 0);
    time("ts", e.end);
    out.raw(",\"name\":\"memory in use\",\"args\":{\"bytes\":").number(e.bytes_in_use).raw("}}");
  }

  // A range that may end on another thread: two events, joined by their number.
  void free_range(const ThreadLog& log, const TraceEvent& e) {
    for (const bool begins : {true, false}) {
      open(begins ? "b" : "e", host, log.number);
      time("ts", begins ? e.begin : e.end);
      out.raw(",\"cat\":\"range\",\"id\":").number(e.count).key("name").string(e.name->text).raw("}");
    }
  }
};

void write_tracks(Writer& w, bool crashed) {
  w.name_of("process_name", w.host, 0, program_invocation_short_name);
  w.name_of("process_name", w.host + 1, 0, "CPU threads");
  for (uint8_t d = 0; d < device_count(); ++d) w.name_of("process_name", w.host + 2 + d, 0, device_row(d).label);
  for (ThreadLog* log = all_logs(); log; log = log->next) {
    if (!crashed) log->lock.lock();
    const char* own = log->label[0] ? log->label : log->is_worker ? "worker" : "thread";
    const uint64_t number = log->label[0] ? 0 : log->number;
    w.name_of("thread_name", w.host, log->number, own, number);
    w.name_of("thread_name", w.host + 1, log->number, own, number);
    if (!crashed) log->lock.unlock();
  }
}

void write_log(Writer& w, ThreadLog& log, bool crashed) {
  if (!crashed) log.lock.lock();
  // Open ranges were set under the lock; other activities their threads still fill in.
  for (uint32_t i = 0; i < std::min(log.depth, kDepth); ++i)
    if (crashed || log.open[i].what == What::range) w.event(log, log.open[i], true);
  const Chunk* first = log.first;
  if (!crashed) log.lock.unlock();
  for (const Chunk* chunk = first; chunk; chunk = chunk->next.load(std::memory_order_acquire)) {
    const uint32_t count = chunk->count.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i) {
      const TraceEvent& e = chunk->event(i);
      if (e.end > w.now && e.what != What::device_range)
        continue;  // ended meanwhile: if it had begun, it has been told as open
      if (e.what == What::range && e.count) w.free_range(log, e);
      else w.event(log, e);
    }
  }
}

void write_totals(Writer& w, bool crashed) {
  JsonOut& out = w.out;
  const State& s = state();
  out.raw("\n],\n\"trine\":{\"version\":1,\"complete\":").raw(crashed ? "false" : "true");
  const uint64_t end = s.end.load() ? s.end.load() : w.now;
  out.key("ns").number(w.clock.ns(end) - w.clock.ns(s.begin.load()));
  out.key("events").number(s.stored.load()).key("dropped_events").number(s.dropped.load());
  const auto ns = [&](uint64_t ticks) {
    return static_cast<uint64_t>(static_cast<double>(ticks) * w.clock.ns_per_tick);
  };
  out.raw(",\"rows\":[");
  bool first = true;
  for_each_row(!crashed, [&](const TraceName& name, const Sums& sums) {
    out.raw(first ? "\n{" : ",\n{").key("what", true).string(kind_of(name.what));
    first = false;
    out.key("device").string(name.device == kNoDevice ? "" : device_row(name.device).label);
    out.key("name").string(name.text).key("calls").number(sums.calls).key("failed").number(sums.failed);
    out.key("timed").number(sums.timed).key("total_ns").number(ns(sums.total));
    out.key("least_ns").number(sums.timed ? ns(sums.least) : 0).key("most_ns").number(ns(sums.most));
    out.key("bytes").real(sums.bytes).key("flops").real(sums.flops).key("work_ns").number(ns(sums.work)).raw("}");
  });
  out.raw("],\n\"memory\":[");
  for (uint8_t d = 0; d < device_count(); ++d) {
    out.raw(d ? ",{" : "{").key("device", true).string(device_row(d).label);
    out.key("bytes").number(device_row(d).bytes.load()).key("peak_bytes").number(device_row(d).peak.load()).raw("}");
  }
  out.raw("]}}\n");
}

}  // namespace

bool write_trace(int file, bool crashed) {
  static char buffer[1 << 16];
  alignas(Writer) static char place[sizeof(Writer)];
  Writer& w = *new (place) Writer{JsonOut(file, buffer, sizeof buffer), {}, 0, 0, {}};
  w.clock = clock_now();
  w.host = static_cast<uint64_t>(getpid()) * kGroups;
  w.now = trace_ticks();
  w.out.raw("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  write_tracks(w, crashed);
  for (ThreadLog* log = all_logs(); log; log = log->next) write_log(w, *log, crashed);
  for (size_t i = 0; i < w.stream_count; ++i)
    w.name_of("thread_name", w.host + 2 + w.streams[i].device, i + 1, "stream", i + 1);
  write_totals(w, crashed);
  return w.out.flush();
}

}  // namespace trine::compute::profile
