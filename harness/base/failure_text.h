// What a program says of an exception that ended it.
#pragma once
#include <exception>
#include <string>

namespace base {

// The exception's own words; of a std::filesystem error, whose words are meant for programmers, the path,
// what could not be done with it, the reason and the next step.
std::string failure_text(const std::exception& error);

}  // namespace base
