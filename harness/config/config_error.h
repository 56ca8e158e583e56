// Where a setting was written, and the one error that a wrong setting ends in.
#pragma once
#include <stdexcept>
#include <string>

namespace harness {

struct Origin {
  std::string file;
  int line = 0;  // 0: not from a line of a file, e.g. `--set batch=48`
};

// what() is "file:line: rule; expected ...; found ...; next step". Empty parts are left out.
struct ConfigError : std::runtime_error {
  ConfigError(const Origin& origin, const std::string& rule, const std::string& expected = "",
              const std::string& found = "", const std::string& next_step = "");
};

// What can't be done before anything has run: bad input, missing data, full disk (exit code 2).
struct PreparationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Text of a stranger made fit for one line of a terminal: quoted, shortened, control characters escaped.
std::string in_quotes(const std::string& text);

}  // namespace harness
