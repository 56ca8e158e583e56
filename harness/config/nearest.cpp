// Damerau-Levenshtein edit distance: swapping two neighbours counts as one edit.
#include "harness/config/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace harness {

static bool same(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// Edits (insert, delete, replace, swap of neighbours) that turn one word into the other, case ignored.
static int edit_distance(const std::string& from, const std::string& to) {
  const size_t n = from.size(), m = to.size();
  std::vector<std::vector<int>> cost(n + 1, std::vector<int>(m + 1));
  for (size_t i = 0; i <= n; ++i) cost[i][0] = static_cast<int>(i);
  for (size_t j = 0; j <= m; ++j) cost[0][j] = static_cast<int>(j);
  for (size_t i = 1; i <= n; ++i)
    for (size_t j = 1; j <= m; ++j) {
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                             cost[i - 1][j - 1] + (same(from[i - 1], to[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && same(from[i - 1], to[j - 2]) && same(from[i - 2], to[j - 1]))
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[n][m];
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  constexpr size_t longest = 64;  // longer than all names; the table grows quadratically
  if (word.empty() || word.size() > longest) return "";
  // Two edits away from almost any short word is another one, and from gpu to cpu is one: those that begin
  // alike may be meant; numbers are not misspelt.
  const bool is_short = word.size() < 4;
  if (is_short && !std::isalpha(static_cast<unsigned char>(word[0]))) return "";
  std::string best;
  int best_distance = std::max<int>(2, static_cast<int>(word.size()) / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest || (is_short && !same(word[0], candidate[0]))) continue;
    const bool begun = candidate.starts_with(word);  // `v100` of v100-article
    const int distance = begun ? 0 : edit_distance(word, candidate);
    // A distance equal to the length means that no letter is kept.
    if (distance < best_distance && distance < static_cast<int>(std::max(word.size(), candidate.size()))) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  std::string near = nearest(word, candidates);
  if (!near.empty()) return fmt::format("did you mean '{}'?", near);
  if (candidates.empty()) return "no name is known";
  return fmt::format("known: {}", fmt::join(candidates, ", "));
}

void require_known(const Origin& origin, const std::string& what, const std::string& word,
                   const std::vector<std::string>& names) {
  if (std::ranges::find(names, word) == names.end())
    throw ConfigError(origin, "unknown " + what, "", in_quotes(word), suggestion(word, names));
}

}  // namespace harness
