// Answers the questions of all claims from the records and puts the answers into a table.
#include "harness/report/claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/report/claim_question.h"
#include "harness/stats/effect.h"

namespace harness {
namespace {

bool has_article_rows(const Summary& summary) {
  return std::ranges::any_of(summary.rows, [](const SummaryRow& row) {
    const std::string identity = row.config.identity;
    return identity == "stated" || identity == "inferred" || identity == "weakly inferred";
  });
}

// One part that does not hold refutes the claim, and it holds if all do, apart from those that are not
// measured. Of which some parts hold and others can't be tested is undecided: it has figures.
ClaimVerdict verdict_of(const std::vector<ClaimPart>& parts) {
  const auto any = [&](ClaimVerdict verdict) {
    return std::ranges::any_of(parts, [&](const ClaimPart& part) { return part.verdict == verdict; });
  };
  for (const ClaimVerdict verdict :
       {ClaimVerdict::does_not_hold, ClaimVerdict::by_construction, ClaimVerdict::undecided})
    if (any(verdict)) return verdict;
  if (!any(ClaimVerdict::holds)) return ClaimVerdict::cannot_be_tested;
  return any(ClaimVerdict::cannot_be_tested) ? ClaimVerdict::undecided : ClaimVerdict::holds;
}

std::vector<Claim> claims_with(const Summary& summary,
                               ClaimPart (*part_of)(const Question&, const Summary&)) {
  std::vector<Claim> claims;
  const auto add = [&](const std::vector<Question>& questions) {
    size_t last = 0;
    for (const Question& question : questions) {
      if (question.claim != std::exchange(last, question.claim))
        claims.push_back({.number = int(question.claim), .own = question.own, .mark = summary.mark});
      claims.back().parts.push_back(part_of(question, summary));
    }
  };
  if (has_article_rows(summary)) add(article_questions());
  if (summary.own) add(summary.own->questions);
  return claims;
}

// `5`, `8b`
std::string number_of(const Claim& claim, size_t part) {
  return std::to_string(claim.number) +
         (claim.parts.size() > 1 ? std::string(1, char('a' + part)) : std::string());
}

std::string tally(const std::vector<Claim>& claims) {
  std::vector<std::string> texts;
  for (const ClaimVerdict verdict :
       {ClaimVerdict::holds, ClaimVerdict::does_not_hold, ClaimVerdict::undecided,
        ClaimVerdict::by_construction, ClaimVerdict::cannot_be_tested}) {
    std::vector<int> numbers;
    for (const Claim& claim : claims)
      if (claim.verdict == verdict) numbers.push_back(claim.number);
    if (!numbers.empty()) texts.push_back(fmt::format("{}: {}", text_of(verdict), fmt::join(numbers, ", ")));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

void correct_for_their_number(std::vector<Claim>& claims) {
  std::vector<Judgement*> family;
  for (Claim& claim : claims)
    for (ClaimPart& part : claim.parts) family.push_back(&part.test);
  correct(family);
  for (Claim& claim : claims)
    for (ClaimPart& part : claim.parts) {
      if (part.verdict != ClaimVerdict::holds && part.verdict != ClaimVerdict::does_not_hold) continue;
      if (part.test.verdict != Verdict::undecided) continue;
      part.verdict = ClaimVerdict::undecided;
      part.reason += "; undecided, because " + part.test.reason;
    }
}

const char* text_of(ClaimVerdict verdict) {
  constexpr const char* kTexts[] = {"holds",           "does not hold",         "undecided",
                                    "by construction", "cannot be tested here", "not measured"};
  return kTexts[size_t(verdict)];
}

std::vector<Claim> claims_of(const Summary& summary) {
  std::vector<Claim> claims = claims_with(summary, answer);
  correct_for_their_number(claims);
  for (Claim& claim : claims) claim.verdict = verdict_of(claim.parts);
  return claims;
}

std::string claims_line(const std::vector<Claim>& claims) {
  if (claims.empty()) return "";
  const auto count = [&](ClaimVerdict verdict) {
    return std::ranges::count_if(claims, [&](const Claim& claim) { return claim.verdict == verdict; });
  };
  const auto hold = count(ClaimVerdict::holds), refuted = count(ClaimVerdict::does_not_hold);
  return fmt::format("{} {}, {} {} not, {} by construction, {} undecided, {} not tested here", hold,
                     hold == 1 ? "holds" : "hold", refuted, refuted == 1 ? "does" : "do",
                     count(ClaimVerdict::by_construction), count(ClaimVerdict::undecided),
                     count(ClaimVerdict::cannot_be_tested) + count(ClaimVerdict::not_measured));
}

Grid claims_grid(const Summary& summary, bool own) {
  std::vector<Claim> claims = claims_of(summary);
  std::erase_if(claims, [own](const Claim& claim) { return claim.own != own; });
  Grid grid;
  if (claims.empty()) return grid;
  grid.title = fmt::format("{} {} claim{}", own ? "this matrix's" : "the article's", claims.size(),
                           claims.size() == 1 ? "" : "s");
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
      const std::string number = number_of(claim, i);
      grid.rows.push_back({number, part.text, text_of(part.verdict), part.figure.empty() ? "-" : part.figure,
                           ids.empty() ? "-" : fmt::format("{}", fmt::join(ids, " ")), part.reason});
      for (const auto& [name, text] : {std::pair<const char*, std::string>{"claim", part.text},
                                       {"verdict", text_of(part.verdict)},
                                       {"figure", part.figure},
                                       {"rows", fmt::format("{}", fmt::join(part.rows, " "))},
                                       {"why", part.reason}})
        grid.values.push_back({number, name, "text", text});
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
  if (!own)
    grid.notes.push_back("Where the article's own figures contradict each other: docs/article_audit.md.");
  return grid;
}

std::string claim_forecast(const Summary& planned) {
  std::string text;
  const std::vector<Claim> claims = claims_with(planned, forecast);
  for (const bool own : {false, true}) {
    std::vector<std::string> testable;
    std::string others;
    for (const Claim& claim : claims)
      for (size_t i = 0; claim.own == own && i < claim.parts.size(); ++i)
        if (const ClaimPart& part = claim.parts[i]; part.reason.empty())
          testable.push_back(number_of(claim, i));
        else
          others += fmt::format("  {:<4} {}: {}\n", number_of(claim, i), text_of(part.verdict), part.reason);
    if (testable.empty() && others.empty()) continue;
    text += fmt::format("claims of {} that this plan can test: {}\n{}", own ? "this matrix" : "the article",
                        testable.empty() ? "none" : fmt::format("{}", fmt::join(testable, ", ")), others);
  }
  return text;
}

}  // namespace harness
