// list: prints rows, values of the axes, fields of a row, keys of a record, or metrics of a table.
#include <iostream>

#include "harness/commands/command_line.h"
#include "harness/contract/record.h"
#include "harness/plan/listing.h"
#include "harness/report/metrics.h"

namespace harness {

static int print_rows(const Installation& installation, const Request& request, bool as_json) {
  const Selection selection = select_rows(installation, request, ask_values(installation));
  std::cout << (as_json ? list_rows_as_json(selection.rows) : list_rows(selection.rows, selection.scale));
  return base::kAllGood;
}

static void add_list(CommandLine& line) {
  struct Asked {
    bool list = false, as_json = false, values = false, fields = false, keys = false, metrics = false;
  };
  const auto asked = std::make_shared<Asked>();
  line.app.add_flag("--list", asked->list, "print the selected rows and run nothing");
  line.app.add_flag("--json", asked->as_json, "with --list or list: as JSON");
  CLI::App* command = line.app.add_subcommand(
      "list", "print rows, --values of every axis, --fields of a row, --keys of a record, or --metrics");
  command->fallthrough();
  command->add_flag("--values", asked->values, "the values of storage, precision, strategy and so on");
  command->add_flag("--fields", asked->fields, "the fields of a row");
  command->add_flag("--keys", asked->keys, "the keys of a record, as Markdown");
  command->add_flag("--metrics", asked->metrics, "the columns of table.csv, as Markdown");
  command->add_flag("--json", asked->as_json, "the same as JSON");
  const auto print = [&line, asked](const Installation& installation) -> int {
    if (asked->values + asked->fields + asked->keys + asked->metrics > 1)
      throw PreparationError(
          "list prints one thing at a time: name one of --values, --fields, --keys and --metrics");
    if (asked->fields)
      std::cout << (asked->as_json ? list_fields_as_json() : list_fields());
    else if (asked->keys)
      std::cout << (asked->as_json ? record_keys_as_json() : record_keys_as_markdown());
    else if (asked->metrics)
      std::cout << (asked->as_json ? metrics_as_json() : metrics_as_markdown());
    else if (asked->values)
      std::cout << (asked->as_json ? encode(ask_values(installation)).dump(2) + "\n"
                                   : list_values(ask_values(installation)));
    else
      return print_rows(installation, line.request, asked->as_json);
    return base::kAllGood;
  };
  line.set_action(command, print);
  line.app.callback([&line, asked, print] {
    if (asked->list) line.action = print;
  });
}
static const Command registered_list(30, add_list);

}  // namespace harness
