// The claims of a matrix, which its key `claims` lists (docs/extending.md).
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "harness/report/claim_question.h"

namespace harness {

// The questions of a file's claims, in its order; none without the key. Where the file also has rows, claims
// may only name these. Throws ConfigError.
std::vector<Question> read_claims(const std::filesystem::path& file, bool own);

// Those of configs/article.yaml in the project's folder, read once.
const std::vector<Question>& article_questions();

// Claims of a user's own matrices, numbered over all of them.
struct OwnClaims {
  std::vector<Question> questions;
  std::string text;  // of RUN/claims.yaml, from which `report` reads them again; empty: none
};
// The article's are checked if its matrix is one of these, and left out.
OwnClaims own_claims(const std::vector<std::filesystem::path>& matrices,
                     const std::filesystem::path& project);

}  // namespace harness
