// Finds the nearest known word, for "did you mean".
#pragma once
#include <string>
#include <vector>

#include "harness/config/config_error.h"

namespace harness {

// The nearest candidate, or empty when none is within a third of the word's length (at least 2 edits: insert,
// delete, replace, swap of neighbours; case ignored); what begins with the word needs none.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

// The next step of an error about an unknown word: "did you mean 'x'?", or the list of known words.
std::string suggestion(const std::string& word, const std::vector<std::string>& candidates);

// Throws ConfigError about an `unknown WHAT`, unless the word is one of the names.
void require_known(const Origin& origin, const std::string& what, const std::string& word,
                   const std::vector<std::string>& names);

}  // namespace harness
