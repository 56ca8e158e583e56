// What the words in the page's tables mean: one meaning for each, whichever table it stands in.
#pragma once
#include <string>
#include <vector>

namespace harness {

struct Term {
  std::string word, meaning;
  std::vector<std::string> headers;  // of columns, besides `word` itself
};

const std::vector<Term>& glossary();

}  // namespace harness
