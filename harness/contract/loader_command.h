// Parses a row's field `command`, which starts an external loader: `python my_loader.py --size 3`.
#pragma once
#include <string>
#include <vector>

namespace harness {

// The argument vector: words between blanks; '...' and "..." keep blanks within a word.
std::vector<std::string> words_of_command(const std::string& text);

// Position of the adapter in them: of the first word after the interpreter that ends in .py; 0: there is
// none.
size_t adapter_of(const std::vector<std::string>& words);

// What was expected instead of the text; empty when it is valid. An empty text is valid.
std::string loader_command_problem(const std::string& text);

}  // namespace harness
