// Parses a row's field `published_ms`, the article's times within one batch: `h2d=13.6 forward=67.3`.
#pragma once
#include <map>
#include <string>

namespace harness {

// Phase, or phase with suffix `_launch`, -> ms. Without suffix: device time of the phase's copy or kernels;
// with `_launch`: time in which the host starts them.
using PublishedMs = std::map<std::string, double>;

// What was expected instead of the text, for "expected ...; found ..."; empty when the text is valid. An
// empty text is valid.
std::string published_ms_problem(const std::string& text);

// Parses the text and ignores words that are not valid.
PublishedMs published_ms(const std::string& text);

}  // namespace harness
