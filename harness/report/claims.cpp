// Answers the questions of all claims from the records and puts the answers into a table.
#include "harness/report/claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/report/claim_question.h"
#include "harness/stats/effect.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

constexpr double kAlpha = 0.05;

bool has_article_rows(const Summary& summary) {
  return std::any_of(summary.rows.begin(), summary.rows.end(), [](const SummaryRow& row) {
    const std::string identity = row.config.identity;
    return identity == "stated" || identity == "inferred" || identity == "weakly inferred";
  });
}

// One part that does not hold refutes the claim, and it holds if all do, apart from those that are not
// measured. Of which some parts hold and others can't be tested is undecided: it has figures.
ClaimVerdict verdict_of(const std::vector<ClaimPart>& parts) {
  const auto any = [&](ClaimVerdict verdict) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const ClaimPart& part) { return part.verdict == verdict; });
  };
  for (const ClaimVerdict verdict :
       {ClaimVerdict::does_not_hold, ClaimVerdict::by_construction, ClaimVerdict::undecided})
    if (any(verdict)) return verdict;
  if (!any(ClaimVerdict::holds)) return ClaimVerdict::cannot_be_tested;
  return any(ClaimVerdict::cannot_be_tested) ? ClaimVerdict::undecided : ClaimVerdict::holds;
}

std::string tally(const std::vector<Claim>& claims) {
  std::vector<std::string> texts;
  for (const auto& [verdict, numbers] : numbers_by_verdict(claims))
    texts.push_back(fmt::format("{}: {}", text_of(verdict), fmt::join(numbers, ", ")));
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

void correct_for_their_number(std::vector<Claim>& claims) {
  std::vector<ClaimPart*> tested;
  std::vector<double> p;
  for (Claim& claim : claims)
    for (ClaimPart& part : claim.parts)
      if (part.p) {
        tested.push_back(&part);
        p.push_back(*part.p);
      }
  const std::vector<double> adjusted = holm(p);
  for (size_t i = 0; i < tested.size(); ++i) {
    ClaimPart& part = *tested[i];
    part.p = adjusted[i];
    const bool is_decided =
        part.verdict == ClaimVerdict::holds || part.verdict == ClaimVerdict::does_not_hold;
    if (!is_decided || adjusted[i] < kAlpha) continue;
    part.verdict = ClaimVerdict::undecided;
    part.reason += fmt::format("; undecided, because p is {:.2f} after Holm's correction for {} tests",
                               adjusted[i], tested.size());
  }
}

const char* text_of(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::holds:
      return "holds";
    case ClaimVerdict::does_not_hold:
      return "does not hold";
    case ClaimVerdict::undecided:
      return "undecided";
    case ClaimVerdict::by_construction:
      return "by construction";
    case ClaimVerdict::cannot_be_tested:
      return "cannot be tested here";
    case ClaimVerdict::not_measured:
      return "not measured";
  }
  return "";
}

std::vector<std::pair<ClaimVerdict, std::vector<int>>> numbers_by_verdict(const std::vector<Claim>& claims) {
  std::vector<std::pair<ClaimVerdict, std::vector<int>>> all;
  for (const ClaimVerdict verdict :
       {ClaimVerdict::holds, ClaimVerdict::does_not_hold, ClaimVerdict::undecided,
        ClaimVerdict::by_construction, ClaimVerdict::cannot_be_tested}) {
    std::vector<int> numbers;
    for (const Claim& claim : claims)
      if (claim.verdict == verdict) numbers.push_back(claim.number);
    if (!numbers.empty()) all.emplace_back(verdict, std::move(numbers));
  }
  return all;
}

static std::vector<Claim> claims_with(const Summary& summary,
                                      ClaimPart (*part_of)(const Question&, const Summary&)) {
  if (!has_article_rows(summary)) return {};
  std::vector<Claim> claims(17);
  for (size_t i = 0; i < claims.size(); ++i) {
    claims[i].number = int(i) + 1;
    claims[i].mark = summary.mark;
  }
  for (const auto& questions : {loading_questions(), lmdb_questions(), precision_questions(),
                                device_questions(), process_questions()})
    for (const Question& question : questions)
      claims[size_t(question.claim - 1)].parts.push_back(part_of(question, summary));
  return claims;
}

std::vector<Claim> claims_to_test(const Summary& planned) { return claims_with(planned, forecast); }

std::vector<Claim> claims_of(const Summary& summary) {
  std::vector<Claim> claims = claims_with(summary, answer);
  correct_for_their_number(claims);
  for (Claim& claim : claims) claim.verdict = verdict_of(claim.parts);
  return claims;
}

std::string claims_line(const std::vector<Claim>& claims) {
  if (claims.empty()) return "";
  const auto count = [&](ClaimVerdict verdict) {
    return std::count_if(claims.begin(), claims.end(),
                         [&](const Claim& claim) { return claim.verdict == verdict; });
  };
  const auto hold = count(ClaimVerdict::holds), refuted = count(ClaimVerdict::does_not_hold);
  return fmt::format("{} {}, {} {} not, {} by construction, {} undecided, {} cannot be told", hold,
                     hold == 1 ? "holds" : "hold", refuted, refuted == 1 ? "does" : "do",
                     count(ClaimVerdict::by_construction), count(ClaimVerdict::undecided),
                     count(ClaimVerdict::cannot_be_tested) + count(ClaimVerdict::not_measured));
}

std::string emulated_hint(const Summary& summary) {
  std::vector<int> numbers;
  for (const Claim& claim : claims_of(summary))
    if (std::any_of(claim.parts.begin(), claim.parts.end(),
                    [](const ClaimPart& part) { return part.lacks_devices; }))
      numbers.push_back(claim.number);
  if (numbers.empty()) return "";
  return fmt::format(
      "{} of the article's claims ({}) cannot be tested here, because devices and loader share the "
      "processor: `./run_matrix --device emulated` runs the same rows on emulated devices and sets them "
      "beside the article's.",
      numbers.size(), fmt::join(numbers, ", "));
}

Grid claims_grid(const Summary& summary) {
  const std::vector<Claim> claims = claims_of(summary);
  Grid grid;
  if (claims.empty()) return grid;
  grid.title = "the article's 17 claims";
  grid.above = {
      summary.mark.empty()
          ? "Verdicts are about this machine at the article's sizes."
          : summary.mark +
                ": verdicts are about this machine at this size, not about the article's hardware.",
      "Whole claims (a claim holds only if all its parts hold; parts that are not measured don't count): " +
          tally(claims) + "."};
  grid.columns = {{"", true},
                  {"claim", true, false, 30},
                  {"verdict" + (summary.mark.empty() ? "" : ", " + summary.mark), true, false, 15},
                  {"figure", true, false, 19},
                  {"rows", true, false, 13},
                  {"why", true, false, 35}};
  for (const Claim& claim : claims)
    for (size_t i = 0; i < claim.parts.size(); ++i) {
      const ClaimPart& part = claim.parts[i];
      std::vector<std::string> ids;
      for (const std::string& id : part.rows) ids.push_back(bracketed(id));
      const std::string letter = claim.parts.size() > 1 ? std::string(1, char('a' + i)) : "";
      grid.rows.push_back({std::to_string(claim.number) + letter, part.text, text_of(part.verdict),
                           part.figure.empty() ? "-" : part.figure,
                           ids.empty() ? "-" : fmt::format("{}", fmt::join(ids, " ")), part.reason});
      const std::string& row = grid.rows.back()[0];
      grid.values.push_back({row, "claim", "text", part.text});
      grid.values.push_back({row, "verdict", "text", text_of(part.verdict)});
      grid.values.push_back({row, "figure", "text", part.figure});
      grid.values.push_back({row, "rows", "text", fmt::format("{}", fmt::join(part.rows, " "))});
      grid.values.push_back({row, "why", "text", part.reason});
    }
  grid.notes.push_back(
      fmt::format("In brackets: exact 95 % interval over whole runs; of fewer than {} it is marked pooled, "
                  "or it is their "
                  "range. {}",
                  kFewestRuns, kPooled));
  grid.notes.push_back(
      "holds, does not hold: the whole interval lies inside or outside the limits, and Student's p against "
      "them, by Holm's correction for all tests of the run, is under 0.05; undecided: otherwise, or with too "
      "few runs; by construction: the result follows from a setting of the suite or from the file of an "
      "emulated device, and is not a finding.");
  grid.notes.push_back("Where the article's own figures contradict each other: docs/article_audit.md.");
  return grid;
}

}  // namespace harness
