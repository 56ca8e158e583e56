// Runs the rows of configs/machine.yaml, and divides the loader's rate by the speeds of known GPUs.
#include "harness/config/device_file.h"
#include "harness/feed/feed.h"
#include "harness/report/results.h"
#include "harness/run/run.h"

namespace harness {

int run_machine(const Installation& installation, Request request, std::ostream& console) {
  request.configs = {installation.project / "configs" / "machine.yaml"};
  request.scale = "machine";
  request.device = "cpu";
  request.launcher = "local";
  const AxisValues values = ask_values(installation);
  RunOf of;
  const auto execution = Execution::prepare(installation, request, values, [&](Selection& selection) {
    const Row& row = selection.rows.front();
    for (const char* name : {"v100-article", "a100", "h100"}) {
      const fs::path file = device_file(installation.project, name);
      const EmulatedDevice device = read_device_file(file);
      require_times(device, file, row);
      of.device_rates[name] = device_images_per_s(*find_costs(device, row.model, row.precision));
    }
  });
  if (!execution) return base::kInterrupted;
  console << "records: " << execution->records_file().string() << std::endl;
  const auto rows = [&] {
    LiveLine line(execution->runs().size());
    for (const Repetition& run : execution->runs())
      if (!execution->run(execution->plan()[run.row], run.repeat, line, of)) return;
  };
  const bool kept =
      write_results_of(rows, installation.project, execution->folder(), execution->records(), console);
  const int code = exit_code_of(execution->records());
  return kept || code == base::kInterrupted ? code : int(base::kRowFailed);
}

}  // namespace harness
