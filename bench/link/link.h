// What joins the nodes of a row. One link is one file in this folder.
#pragma once
#include <functional>
#include <string>

#include "bench/registry.h"

namespace bench {

// The network interface that carries the collectives over a link.
using LinkRegistry = Registry<std::function<std::string()>>;

}  // namespace bench
