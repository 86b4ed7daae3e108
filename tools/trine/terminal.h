// How the command line writes: colours only on a terminal and without NO_COLOR, tables, amounts, a progress bar.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace trine::cli {

enum class Style { plain, bold, red, yellow, dim };
// `text` in a style where stream 1 (stdout) or 2 (stderr) takes one.
std::string styled(const std::string& text, Style style, int stream = 1);
bool is_terminal(int stream);

std::string bytes_text(double bytes);      // "1.5 MiB"
std::string count_text(double count);      // "4.1 G"
std::string seconds_text(double seconds);  // "350 ms", "1.2 s", "3 min 20 s"

// Rows of cells under a heading; a column of numbers is set flush right.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) : rows_{std::move(heading)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Progress of long work, on stderr: a bar with the time left on a terminal, otherwise a line every few seconds.
// Nothing is shown for work that ends within half a second.
class Progress {
 public:
  Progress(std::string title, bool quiet = false);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(double fraction, const std::string& what = "");  // 0..1
  void finish();                                               // wipes the bar

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double fraction, const std::string& what, double seconds);

  std::string title_;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
};

}  // namespace trine::cli
