#include "terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "trine/base/env.h"

namespace trine::cli {
namespace {

constexpr double kQuietSeconds = 0.5;
constexpr double kBarSeconds = 0.1;   // between two drawings on a terminal
constexpr double kLineSeconds = 5.0;  // between two lines in a log
constexpr int kBarWidth = 24;

bool is_number(const std::string& text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-' || text[0] == '+');
}

// Columns on screen: bytes that continue a UTF-8 character take none.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

int terminal_columns() {
  winsize size{};
  return ::ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

bool is_terminal(int stream) { return ::isatty(stream) == 1; }

std::string styled(const std::string& text, Style style, int stream) {
  if (style == Style::plain || !is_terminal(stream) || !env_text("NO_COLOR").empty()) return text;
  constexpr const char* kCodes[] = {"", "1", "1;31", "33", "2"};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<int>(style)], text);
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < std::size(kUnits)) bytes /= 1024, ++unit;
  return unit ? fmt::format("{:.{}f} {}", bytes, bytes < 10 ? 2 : 1, kUnits[unit]) : fmt::format("{:.0f} B", bytes);
}

std::string count_text(double count) {
  constexpr const char* kUnits[] = {"", "k", "M", "G", "T", "P"};
  size_t unit = 0;
  while (std::abs(count) >= 1000 && unit + 1 < std::size(kUnits)) count /= 1000, ++unit;
  return unit ? fmt::format("{:.{}f} {}", count, count < 10 ? 2 : 1, kUnits[unit]) : fmt::format("{:.0f}", count);
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.{}f} ms", seconds * 1e3, seconds < 0.1 ? 2 : 0);
  if (seconds < 100) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

std::string Table::text() const {
  const size_t columns = rows_[0].size();
  std::vector<size_t> widths(columns);
  std::vector<bool> numeric(columns, rows_.size() > 1);
  for (size_t r = 0; r < rows_.size(); ++r) {
    for (size_t c = 0; c < columns && c < rows_[r].size(); ++c) {
      widths[c] = std::max(widths[c], width_of(rows_[r][c]));
      if (r && !rows_[r][c].empty() && !is_number(rows_[r][c])) numeric[c] = false;
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t c = 0; c < columns; ++c) {
      const std::string cell = c < row.size() ? row[c] : "";
      const std::string space(widths[c] - width_of(cell), ' ');
      line += (c ? "  " : "") + (numeric[c] ? space + cell : cell + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += &row == &rows_[0] ? styled(line, Style::bold) + "\n" : line + "\n";
  }
  return out;
}

Progress::Progress(std::string title, bool quiet)
    : title_(std::move(title)), quiet_(quiet), terminal_(is_terminal(2)) {}

void Progress::update(double fraction, const std::string& what) {
  if (quiet_) return;
  const auto now = Clock::now();
  const double total = std::chrono::duration<double>(now - begin_).count();
  const double since = std::chrono::duration<double>(now - last_).count();
  const double pause = terminal_ ? (drawn_ ? kBarSeconds : kQuietSeconds) : kLineSeconds;
  if (since < pause) return;
  last_ = now;
  draw(std::clamp(fraction, 0.0, 1.0), what, total);
}

void Progress::draw(double fraction, const std::string& what, double seconds) {
  const std::string left =
      fraction > 0.02 ? fmt::format(", {} left", seconds_text(seconds * (1 - fraction) / fraction)) : "";
  if (!terminal_) {
    fmt::print(stderr, "{}: {:.0f}%, {}{}{}{}\n", title_, fraction * 100, seconds_text(seconds), left,
               what.empty() ? "" : ": ", what);
    return;
  }
  const int filled = static_cast<int>(fraction * kBarWidth);
  std::string line = fmt::format("{} [{}{}] {:3.0f}%{}  {}", title_, std::string(static_cast<size_t>(filled), '#'),
                                 std::string(static_cast<size_t>(kBarWidth - filled), '.'), fraction * 100, left, what);
  line.resize(std::min(line.size(), static_cast<size_t>(terminal_columns() - 1)));
  fmt::print(stderr, "\r{}\x1b[K", line);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::finish() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

}  // namespace trine::cli
