#include "harness/report/claim_forecast.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/report/claims.h"

namespace harness {
namespace {

// `5`, `8b`
std::string number_of(const Claim& claim, size_t part) {
  return fmt::format("{}{}", claim.number,
                     claim.parts.size() > 1 ? std::string(1, char('a' + part)) : std::string());
}

std::string forecast_of(const Summary& summary) {
  const std::vector<Claim> claims = claims_to_test(summary);
  std::vector<std::string> testable;
  std::string others;
  for (const Claim& claim : claims)
    for (size_t i = 0; i < claim.parts.size(); ++i) {
      const ClaimPart& part = claim.parts[i];
      if (part.reason.empty())
        testable.push_back(number_of(claim, i));
      else
        others += fmt::format("  {:<4} {}: {}\n", number_of(claim, i), text_of(part.verdict), part.reason);
    }
  if (claims.empty()) return "";
  return fmt::format("claims of the article that this plan can test: {}\n{}",
                     testable.empty() ? "none" : fmt::format("{}", fmt::join(testable, ", ")), others);
}

}  // namespace

std::string claim_forecast(const Records& planned) {
  std::string text;
  for (const Summary& summary : summarise(planned)) text += forecast_of(summary);
  return text;
}

}  // namespace harness
