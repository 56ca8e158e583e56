// fleet: which hosts of a history are slow tonight, and in what.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <iostream>

#include "harness/base/time_stamp.h"
#include "harness/commands/command_line.h"
#include "harness/fleet/fleet_night.h"

namespace harness {
namespace {

struct AskedFleet {
  fs::path history;
  std::string night;
  int64_t nights = 21;
  bool as_json = false;
};

int run_fleet(const Installation& installation, const AskedFleet& asked) {
  if (!fs::is_directory(asked.history))
    throw PreparationError(
        asked.history.string() +
        ": no such folder of nights; name the history that the hosts' nightlies write to (--history)");
  const FleetNight night = read_fleet_night(asked.history, asked.night, asked.nights, installation.project);
  if (night.hosts.empty()) {
    fmt::print(std::cerr,
               "{0}: no host has a night {1}; `./run_matrix history --history {0} list` shows the nights\n",
               asked.history.string(), asked.night.empty() ? "yet" : "of " + asked.night);
    return base::kNothingRan;
  }
  const FleetVerdict verdict = judge_fleet(night);
  if (asked.as_json) {
    std::cout << fleet_json(night, verdict).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << fleet_sentence(night, verdict) << '\n';
    for (const std::string& remark : verdict.remarks) std::cout << remark << '\n';
    if (!night.missing.empty())
      std::cout << wrap(fmt::format("missing: {}", fmt::join(night.missing, ", ")), 118, "  ") << '\n';
    std::cout << console_text(slow_groups_grid(verdict));
    if (!verdict.hosts.empty()) std::cout << console_text(slow_hosts_grid(night, verdict));
    const fs::path page = asked.history / "fleet.html";
    write_fleet_page(page, night, verdict, installation.project);
    std::cout << "page: " << page.string() << '\n';
  }
  if (!verdict.hosts.empty() || !verdict.groups.empty()) return base::kRegression;
  return verdict.judged == 0 ? base::kNothingRan : base::kAllGood;
}

}  // namespace

static void add_fleet(CommandLine& line) {
  const auto asked = std::make_shared<AskedFleet>();
  CLI::App* command = line.app.add_subcommand(
      "fleet",
      "which hosts of a shared history are slow tonight, in which part, against the other hosts and their own past. Exit "
      "codes: 0 none, 3 no night or too few hosts to judge one, 4 some are slow");
  command->add_option("history", asked->history,
                      "folder that the nightlies of all hosts write to (their --history)");
  command
      ->add_option(
          "--night", asked->night,
          "a date in UTC, 2026-01-31; default: the latest that isn't in the future. Hosts that began on the day before, "
          "up to 12 h earlier, belong to it")
      ->check([](const std::string& text) {
        return base::is_day(text) ? std::string() : text + ": not a date; e.g. 2026-01-31";
      });
  command->add_option("--nights", asked->nights, "earlier nights that make up a host's past")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", asked->as_json, "as JSON, without a page");
  add_fleet_submit(line, *command);
  command->callback([&line, asked, command] {
    if (!command->get_subcommands().empty()) return;
    if (asked->history.empty()) throw CLI::RequiredError("history");

    line.action = [asked](const Installation& installation) { return run_fleet(installation, *asked); };
  });
}
static const Command registered_fleet(160, add_fleet);

}  // namespace harness
