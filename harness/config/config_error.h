// Where a setting was written, and the error for wrong settings.
#pragma once
#include <stdexcept>
#include <string>

namespace harness {

struct Origin {
  std::string file;
  int line = 0;  // 0: not from a line of a file, e.g. `--set batch=48`
};

// what(): "file:line: rule; expected ...; found ...; next step". Empty parts are left out.
struct ConfigError : std::runtime_error {
  ConfigError(const Origin& origin, const std::string& rule, const std::string& expected = "",
              const std::string& found = "", const std::string& next_step = "");
};

// Failure before the first row runs: bad input, missing data, full disk (exit code 2).
struct PreparationError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Untrusted text for one line of a terminal: quoted, shortened to 60 bytes, control characters escaped.
std::string in_quotes(const std::string& text);

}  // namespace harness
