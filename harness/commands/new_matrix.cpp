// new: writes a matrix file to start from.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iostream>

#include "harness/base/file.h"
#include "harness/commands/command_line.h"

namespace harness {

namespace {

constexpr const char* kTemplate = R"(# Run it with: ./run_matrix {file}
# Each row is one training configuration; a field that isn't given has its default (`./run_matrix list --fields`).
title: {name}
defaults: {{model: resnet18, batch: 256, storage: tmpfs}}  # of every row; sizes are divided by the scale's batch_divisor
rows:
  plain: {{title: as in defaults}}
  threads: {{title: more loader threads, base: plain, loader_threads: 2 C0,  # base: the ratio's row; C0: the scale's unit
            question: "Is loading the bottleneck?", answer: "loading, images_per_s"}}
  # A list makes one row per value, several lists one per combination: grid-64-o0, grid-64-bf16, grid-128-o0, ...
  grid: {{batch: [64, 128], precision: [o0, bf16], skip: [{{batch: 128, precision: bf16, reason: an example}}]}}
)";

int write_matrix(const Installation& installation, const std::string& name) {
  const bool fits =
      !name.empty() && name[0] != '.' && name[0] != '-' && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '_' || c == '.';
      });
  if (!fits)
    throw ConfigError({"new " + name}, "invalid name of a matrix", "letters, digits, '-', '_' and '.'",
                      in_quotes(name));
  const fs::path file = installation.project / "configs" / (name + ".yaml");
  if (fs::exists(file))
    throw ConfigError({file.string()}, "this file exists already", "a new name", in_quotes(name),
                      "choose another name, or edit the file");
  const std::string shown = fs::relative(file).string();
  base::write_whole_file(file, fmt::format(kTemplate, fmt::arg("file", shown), fmt::arg("name", name)),
                         /*durable=*/false);
  std::cout << fmt::format("{0} written; edit it, then\n  ./run_matrix list {0}\n  ./run_matrix {0}\n",
                           shown);
  return base::kAllGood;
}

}  // namespace

static void add_new(CommandLine& line) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command =
      line.app.add_subcommand("new", "write configs/NAME.yaml, a short commented matrix to start from");
  command->add_option("name", *name, "NAME of the matrix")->required();
  line.set_action(command,
                  [name](const Installation& installation) { return write_matrix(installation, *name); });
}
static const Command registered_new(40, add_new);

}  // namespace harness
