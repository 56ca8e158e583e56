// The error message for an exception that ends a program.
#pragma once
#include <exception>
#include <functional>
#include <string>

namespace base {

// what() of the exception. For a std::filesystem error, whose what() is meant for programmers: the path, the
// failed operation, the reason and the next step.
std::string failure_text(const std::exception& error);

// Runs a step that others may follow. If it throws, most likely because of a full disk, prints the error on
// stderr and returns false.
bool survives(const std::function<void()>& step);

}  // namespace base
