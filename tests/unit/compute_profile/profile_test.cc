// The profiler without kernels: counts, times, ranges of many threads, its limits. Also under the thread sanitizer.
#include "trine/compute/profile.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "trine/base/error.h"
#include "trine/compute/device.h"

namespace trine::compute {
namespace {

ProfileRow row_of(const Profile& profile, const std::string& what, const std::string& name) {
  for (const ProfileRow& row : profile.rows)
    if (row.what == what && row.name == name) return row;
  return {};
}

nlohmann::json trace_of_now() {
  const std::string path = testing::TempDir() + "trine_trace_" + std::to_string(getpid()) + ".json";
  Profiler::write(path);
  std::ifstream file(path);
  nlohmann::json trace = nlohmann::json::parse(file);
  std::filesystem::remove(path);
  return trace;
}

struct Slice {
  int64_t begin, end;
  std::string name;
};

int64_t ns(const nlohmann::json& microseconds) { return std::llround(microseconds.get<double>() * 1000); }

// Of each track of hosts, in the order in which they begin; those that begin at once: the longest first.
std::map<int64_t, std::vector<Slice>> slices_of(const nlohmann::json& trace) {
  std::map<int64_t, std::vector<Slice>> tracks;
  for (const auto& e : trace.at("traceEvents"))
    if (e.at("ph") == "X") {
      const int64_t begin = ns(e.at("ts"));
      tracks[e.at("pid").get<int64_t>() << 20 | e.at("tid").get<int64_t>()].push_back(
          {begin, begin + ns(e.at("dur")), e.at("name")});
    }
  for (auto& [track, slices] : tracks)
    std::sort(slices.begin(), slices.end(),
              [](const Slice& a, const Slice& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  return tracks;
}

void expect_nested(const nlohmann::json& trace) {
  for (const auto& [track, slices] : slices_of(trace)) {
    std::vector<int64_t> open;
    for (const Slice& s : slices) {
      while (!open.empty() && open.back() <= s.begin) open.pop_back();
      if (!open.empty()) {
        EXPECT_LE(s.end, open.back() + 1) << s.name;  // numbers of JSON round
      }
      open.push_back(s.end);
    }
  }
}

TEST(Profile, CountsCopiesFillsAndMemory) {
  const Device cpu = Device::open("cpu");
  Profiler::start();
  EXPECT_TRUE(Profiler::running());
  {
    Stream stream = cpu.create_stream();
    std::vector<char> host(5000, 1);
    Buffer a = cpu.allocate(5000), b = cpu.allocate(3000);
    for (int i = 0; i < 7; ++i) stream.upload(a, 0, host.data(), 1000);
    for (int i = 0; i < 5; ++i) stream.copy(b, 0, a, 0, 100);
    for (int i = 0; i < 3; ++i) stream.download(host.data(), a, 0, 5000);
    stream.fill(b, 7);
    {
      const Buffer c = cpu.allocate(10'000);
    }
  }
  Profiler::stop();
  EXPECT_FALSE(Profiler::running());
  const Profile profile = Profiler::profile();
  const auto check = [&](const char* what, const char* name, uint64_t calls, double bytes) {
    const ProfileRow row = row_of(profile, what, name);
    EXPECT_EQ(row.device, "cpu");
    EXPECT_EQ(row.calls, calls) << name;
    EXPECT_EQ(row.timed, calls) << name;
    EXPECT_EQ(row.failed, 0u);
    EXPECT_EQ(row.bytes, bytes) << name;
    EXPECT_LE(row.least_s, row.mean_s() * 1.0001);
    EXPECT_LE(row.mean_s(), row.most_s * 1.0001);
    EXPECT_LE(row.total_s, profile.seconds);
    EXPECT_GT(row.total_s, 0);
  };
  check("copy", "upload", 7, 7000);
  check("copy", "copy", 5, 500);
  check("copy", "download", 3, 15'000);
  check("fill", "fill", 1, 3000);
  check("allocate", "allocate", 3, 18'000);
  check("free", "free", 3, 18'000);
  ASSERT_EQ(profile.memory.size(), 1u);
  EXPECT_EQ(profile.memory[0].device, "cpu");
  EXPECT_EQ(profile.memory[0].bytes, 0u);
  EXPECT_EQ(profile.memory[0].peak_bytes, 18'000u);
  EXPECT_EQ(profile.events, 22u);
  const std::string table = profile.table();
  EXPECT_NE(table.find("upload"), std::string::npos) << table;
  EXPECT_NE(table.find("at most 17.6 KiB in use"), std::string::npos) << table;
  std::vector<int64_t> in_use;
  const nlohmann::json trace = trace_of_now();
  for (const auto& e : trace.at("traceEvents"))
    if (e.at("ph") == "C") in_use.push_back(e.at("args").at("bytes").get<int64_t>());
  EXPECT_EQ(in_use, (std::vector<int64_t>{5000, 8000, 18'000, 8000, 5000, 0}));
}

TEST(Profile, FreesOfWhatWasThereBeforeChangeNothing) {
  const Device cpu = Device::open("cpu");
  auto before = std::make_unique<Buffer>(cpu.allocate(100));
  Profiler::start();
  const Buffer kept = cpu.allocate(50);
  before.reset();
  Profiler::stop();
  EXPECT_EQ(Profiler::profile().memory.at(0).bytes, 50u);
}

TEST(Profile, RangesOfThreadsNest) {
  constexpr int kThreads = 8, kRounds = 50;
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  Profiler::start();
  std::atomic<uint64_t> handed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(seed + static_cast<unsigned>(t));
      name_thread("thread \"" + std::to_string(t));
      for (int i = 0; i < kRounds; ++i) {
        const Range outer("outer");
        const auto depth = random() % 6;
        for (unsigned d = 0; d < depth; ++d) push_range("pushed " + std::to_string(d));
        mark("here");
        for (unsigned d = 0; d < depth; ++d) pop_range();
        const Range inner("inner");
        end_range(handed.exchange(start_range("across")));
      }
    });
  for (std::thread& thread : threads) thread.join();
  end_range(handed);
  Profiler::stop();
  const Profile profile = Profiler::profile();
  for (const char* name : {"outer", "inner", "across"})
    EXPECT_EQ(row_of(profile, "range", name).calls, uint64_t{kThreads * kRounds}) << name;
  EXPECT_EQ(row_of(profile, "mark", "here").calls, uint64_t{kThreads * kRounds});
  EXPECT_GE(row_of(profile, "range", "outer").total_s, row_of(profile, "range", "inner").total_s);
  const nlohmann::json trace = trace_of_now();
  expect_nested(trace);
  int begins = 0, ends = 0, marks = 0;
  for (const auto& e : trace.at("traceEvents")) {
    begins += e.at("ph") == "b";
    ends += e.at("ph") == "e";
    marks += e.at("ph") == "i";
  }
  EXPECT_EQ(begins, kThreads * kRounds);
  EXPECT_EQ(ends, begins);
  EXPECT_EQ(marks, begins);
  EXPECT_NE(trace.dump().find("thread \\\""), std::string::npos);
}

TEST(Profile, TimesAreThoseOfTheClock) {
  using Clock = std::chrono::steady_clock;
  Profiler::start();
  const auto begin = Clock::now();
  {
    const Range range("sleep");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
  Profiler::stop();
  const double recorded = row_of(Profiler::profile(), "range", "sleep").total_s;
  EXPECT_GE(recorded, 0.02 * 0.999);  // what a tick is is known to a thousandth and better
  EXPECT_LE(recorded, spent * 1.001);
  const auto trace = trace_of_now();
  for (const auto& e : trace.at("traceEvents")) {
    if (e.at("ph") != "X") continue;
    const double at = e.at("ts").get<double>() * 1e-6;
    const double began = std::chrono::duration<double>(begin.time_since_epoch()).count();
    EXPECT_NEAR(at, began, 0.005) << "the system's monotonic clock";
  }
}

TEST(Profile, WhatHasNoRoomIsCounted) {
  Profiler::start({.most_events = 255});
  for (int i = 0; i < 1000; ++i) const Range range("one of many");
  Profiler::stop();
  const Profile profile = Profiler::profile();
  EXPECT_EQ(profile.events, 255u);
  EXPECT_EQ(profile.dropped_events, 745u);
  EXPECT_EQ(row_of(profile, "range", "one of many").calls, 1000u) << "the table counts all";
  EXPECT_NE(profile.table().find("745 more had no room"), std::string::npos) << profile.table();
  Profiler::start();  // what was recorded before is forgotten
  Profiler::stop();
  EXPECT_EQ(Profiler::profile().events, 0u);
  EXPECT_EQ(row_of(Profiler::profile(), "range", "one of many").calls, 0u);
}

TEST(Profile, NothingIsRecordedWhileItIsOff) {
  {
    const Range range("before");
  }
  Profiler::start();
  Profiler::pause();
  {
    const Range range("paused");
  }
  push_range("paused");
  Profiler::resume();
  pop_range();  // of a push that was not recorded
  {
    const Range range("resumed");
  }
  Profiler::stop();
  Profiler::resume();  // not running
  {
    const Range range("after");
  }
  EXPECT_EQ(start_range("after"), 0u);
  const Profile profile = Profiler::profile();
  ASSERT_EQ(profile.rows.size(), 1u) << profile.table();
  EXPECT_EQ(profile.rows[0].name, "resumed");
}

TEST(Profile, RangesThatAreLeftOpenOrTooDeep) {
  Profiler::start();
  push_range("never popped");
  expect_nested(trace_of_now());
  EXPECT_NE(trace_of_now().dump().find("unfinished"), std::string::npos);
  for (int i = 0; i < 100; ++i) push_range("deep");
  EXPECT_EQ(Profiler::profile().dropped_events, 37u) << "64 lie within each other";
  for (int i = 0; i < 200; ++i) pop_range();
  {
    const Range range("outer");
    push_range("left open in a range");
  }
  Profiler::stop();
  const Profile profile = Profiler::profile();
  EXPECT_EQ(row_of(profile, "range", "deep").calls, 63u);
  EXPECT_EQ(row_of(profile, "range", "never popped").calls, 1u);
  EXPECT_EQ(row_of(profile, "range", "left open in a range").calls, 1u) << "ends with what holds it";
  expect_nested(trace_of_now());
}

TEST(Profile, MayStartStopAndWriteWhileThreadsRecord) {
  std::atomic<bool> enough{false};
  std::vector<std::thread> threads;
  const Device cpu = Device::open("cpu");
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Stream stream = cpu.create_stream();
      while (!enough) {
        const Range range("outer");
        const Buffer buffer = cpu.allocate(64);
        stream.fill(buffer, 1);
        const Range inner("inner");
      }
    });
  for (int i = 0; i < 8; ++i) {
    Profiler::start({.most_events = 1020});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    expect_nested(trace_of_now());
    EXPECT_GE(Profiler::profile().seconds, 0.001);
    Profiler::stop();
  }
  enough = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(Profiler::profile().events, 1020u);
}

TEST(Profile, ThreadsThatComeAndGoShareLogs) {
  Profiler::start();
  for (int i = 0; i < 100; ++i) std::thread([] { const Range range("short"); }).join();
  Profiler::stop();
  EXPECT_EQ(row_of(Profiler::profile(), "range", "short").calls, 100u);
  EXPECT_LE(slices_of(trace_of_now()).size(), 2u);
}

TEST(Profile, MistakesAreNamed) {
  const auto error = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  Profiler::start();
  EXPECT_NE(error([] { Profiler::start(); }).find("call stop() first"), std::string::npos);
  Profiler::stop();
  Profiler::stop();
  EXPECT_NE(error([] { Profiler::write("/nowhere/trace.json"); }).find("No such file"), std::string::npos);
}

// A child has the record of its parent, which is none of its business.
TEST(Profile, AForkedProcessRecordsNothing) {
  Profiler::start();
  const pid_t child = fork();
  if (child == 0) {
    bool right = !Profiler::running();
    {
      const Range range("of the child");
    }
    try {
      Profiler::start();
      right = false;
    } catch (const Error& e) {
      right &= e.code() == ErrorCode::unsupported;
    }
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(Profiler::running());
  Profiler::stop();
}

}  // namespace
}  // namespace trine::compute
