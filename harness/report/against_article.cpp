#include "harness/report/against_article.h"

#include <cmath>

namespace harness {

std::string against_article(const Ratio& here, double point) {
  if (!here.known() || point <= 0) return "-";
  if (!here.decides()) return "too few runs";
  if (point >= here.low * (1 - kArticleMargin) && point <= here.high * (1 + kArticleMargin))
    return "reproduced";
  if (std::abs(point - 1) <= kArticleMargin) return "differs";
  if (!here.above(1) && !here.below(1)) return "direction unclear";
  return here.above(1) == (point > 1) ? "same direction" : "other direction";
}

std::string against_equal(const Ratio& here) {
  if (!here.known()) return "-";
  if (!here.decides()) return "too few runs";
  if (here.above(1 - kArticleMargin) && here.below(1 + kArticleMargin)) return "same";
  return here.above(1) || here.below(1) ? "differs" : "undecided";
}

}  // namespace harness
