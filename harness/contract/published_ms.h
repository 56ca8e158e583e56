// The article's figures within one batch, as a row's field `published_ms` has them: `h2d=13.6 forward=67.3`.
#pragma once
#include <map>
#include <string>

namespace harness {

// Phase, or phase and `_launch`, to ms. A phase's figure is the time of its copy or its kernels on the
// device; with `_launch` it is what the host took to start them.
using PublishedMs = std::map<std::string, double>;

// What is wrong with the text as the rest of "expected ..., found", empty for a good one. Nothing at all is
// good.
std::string published_ms_problem(const std::string& text);

// A text of another form, as a record from elsewhere may hold, gives what could be read of it.
PublishedMs published_ms(const std::string& text);

}  // namespace harness
