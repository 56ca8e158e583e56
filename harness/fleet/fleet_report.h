// What `fleet` shows: tables, JSON, and a page with a heat map of hosts by parts.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/fleet/slow_hosts.h"
#include "harness/report/summary/grid.h"

namespace harness {

// One sentence: how many hosts are slow, and of how many.
std::string fleet_sentence(const FleetNight& night, const FleetVerdict& verdict);
Grid slow_groups_grid(const FleetVerdict& verdict);
Grid slow_hosts_grid(const FleetNight& night, const FleetVerdict& verdict);
// {night, judged, hosts: [{host, part, against, percent, low, high, cost_percent}], groups: [...], missing,
// remarks}
nlohmann::json fleet_json(const FleetNight& night, const FleetVerdict& verdict);

// Throws std::runtime_error if it can't be written.
void write_fleet_page(const std::filesystem::path& file, const FleetNight& night, const FleetVerdict& verdict,
                      const std::filesystem::path& project);

}  // namespace harness
