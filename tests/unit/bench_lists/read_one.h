// Reads one line of a list.
#pragma once

#include <gtest/gtest.h>

#include "batch_file.h"
#include "trine/base/error.h"

namespace trine::bench {

inline Entry read_one(std::string_view text, Driver driver = Driver::conv) {
  const auto entries = read_batch_text(text, "list", driver);
  EXPECT_EQ(entries.size(), 1U) << text;
  return entries.empty() ? Entry{} : entries[0];
}

// The message that a text is refused with; empty when it is accepted.
inline std::string refusal(std::string_view text, Driver driver = Driver::conv) {
  try {
    read_batch_text(text, "list", driver);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace trine::bench
