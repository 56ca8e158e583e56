// The message of the std::runtime_error that an action throws; empty if it throws none. Other exceptions end
// the test.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

inline std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

// The message, which is shown when it doesn't hold the part.
#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)
