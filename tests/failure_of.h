// What an action fails with; empty when it doesn't. Other exceptions than std::runtime_error end the test.
#pragma once
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
