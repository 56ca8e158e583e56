// Versions of the libraries as loaded at run time, for the record.
#pragma once
#include <nlohmann/json.hpp>

namespace bench {
nlohmann::json library_versions();
}
