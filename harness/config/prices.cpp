// Reads prices and powers from YAML, and refuses powers without the price of a kWh.
#include "harness/config/prices.h"

#include "harness/config/yaml_file.h"

namespace harness {

static bool is_power(const std::string& key) { return key.rfind("watts_", 0) == 0; }

// A gain may be divided by a power, so that 0 W is none; a resource may be free.
constexpr FigureLimits kPower{1e-3, 1e6, "W"}, kPrice{1e-9, 1e9, "", true};

Prices read_prices(const std::filesystem::path& file) {
  Prices prices;
  bool any = false;
  const std::vector<Entry> all = read_yaml(file, names_of_keys(kType<Prices>));
  for (const Entry& entry : all)
    for (const Key& key : kType<Prices>.keys()) {
      if (entry.key != key.name) continue;
      if (auto* text = key.find_in<std::string>(&prices))
        *text = scalar(entry);
      else if (auto* price = key.find_in<std::optional<double>>(&prices))
        *price = number(entry, is_power(entry.key) ? kPower : kPrice);
      any = any || (entry.key != "unit" && !is_power(entry.key));
    }
  if (prices.unit.empty())
    throw ConfigError(all.empty() ? Origin{file.string()} : all[0].origin, "no unit",
                      "unit: EUR/month, or another", "", "all prices of the file are in it");
  for (const Entry& entry : all)
    if (is_power(entry.key) && !prices.kwh)
      throw ConfigError(entry.origin, in_quotes(entry.key) + " without the price of a kWh", "kWh: 0.3", "",
                        "state what a kWh costs, or leave out " + entry.key);
  if (!any)
    throw ConfigError({file.string()}, "no price", "core, gpu, gbit_per_s, mb_per_s or kWh", "",
                      "add at least one");
  return prices;
}

}  // namespace harness
