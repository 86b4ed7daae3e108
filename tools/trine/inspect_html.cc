#include "inspect_html.h"

#include <fmt/format.h>

#include <algorithm>

namespace trine::cli {
namespace {

constexpr const char* kStyle =
    "body{font:14px system-ui,sans-serif;margin:2em;max-width:1200px;color:#222}"
    "table{border-collapse:collapse}td,th{padding:2px 10px;text-align:left;border-bottom:1px solid #eee}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}pre{background:#f6f6f6;padding:1em;overflow:auto}"
    ".bar{background:#2a6fb0;height:10px}.rest{background:#eef2f6;width:240px}summary{cursor:pointer;font-weight:600}"
    "@media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}pre{background:#222}.rest{background:#2a2a2a}"
    "td,th{border-color:#333}}";

// Names come from the model file: they must not become markup.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string io_rows(const std::vector<IoInfo>& infos, const char* kind) {
  std::string rows;
  for (const IoInfo& info : infos) {
    rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", kind, escaped(info.name),
                        escaped(info.type.text()));
  }
  return rows;
}

std::string rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds * 1e-9) : "";
}

std::string step_rows(const StepTimes& times) {
  const double total = std::max(times.steps_seconds, 1e-12);
  double slowest = 1e-12;
  for (const StepTime& s : times.steps) slowest = std::max(slowest, s.seconds);
  std::string rows;
  int number = 0;
  for (const StepTime& s : times.steps) {
    rows += fmt::format(
        "<tr><td class=n>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=n>{:.4f}</td><td "
        "class=n>{:.1f}%</td>"
        "<td class=n>{}</td><td class=n>{}</td>"
        "<td><div class=rest><div class=bar style=\"width:{:.1f}%\"></div></div></td></tr>\n",
        number++, escaped(s.name), escaped(s.op), escaped(s.kernel), escaped(s.provider), s.seconds * 1e3,
        s.seconds / total * 100, rate(s.flops, s.seconds), rate(s.bytes, s.seconds), s.seconds / slowest * 100);
  }
  return rows;
}

std::string folded(const char* title, const std::string& text) {
  return fmt::format("<details><summary>{}</summary><pre>{}</pre></details>\n", title, escaped(text));
}

}  // namespace

std::string html_page(const std::string& title, const Engine& engine, const std::map<std::string, int64_t>& sizes,
                      const StepTimes& times) {
  return fmt::format(
      "<!doctype html><meta charset=utf-8><title>{0}</title><style>{1}</style><h1>{0}</h1>\n"
      "<table><tr><th></th><th>name</th><th>type</th></tr>{2}{3}</table>\n<h2>Time of each step</h2>\n"
      "<p>On {8}: {9:.4f} ms together, a whole run {10:.4f} ms.</p>\n"
      "<table><tr><th>#</th><th>node</th><th>operator</th><th>kernel</th><th>provider</th><th>ms</th>"
      "<th>share</th><th>GFLOP/s</th><th>GB/s</th><th></th></tr>{4}"
      "</table>\n{5}{6}{7}",
      escaped(title), kStyle, io_rows(engine.inputs(), "input"), io_rows(engine.outputs(), "output"), step_rows(times),
      folded("Plan", engine.plan_text(sizes, times.device)), folded("Memory", engine.memory_text(sizes, times.device)),
      folded("Graph", engine.graph_text()), escaped(times.device), times.steps_seconds * 1e3, times.run_seconds * 1e3);
}

}  // namespace trine::cli
