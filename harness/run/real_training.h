// Rows on emulated devices also train for real, on this machine's processor with a small network: a few steps
// before they are timed, and later as many batches as were timed.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>

#include "harness/config/scales.h"
#include "harness/run/measure_row.h"

namespace harness {

enum class RealWork {
  steps,  // on one made-up batch, again and again
  slice   // the row's timed batches, of images
};

// The learning rate of RealWork::steps, with the usual momentum, in all rows: so SGD and Adam learn one batch
// with a network of scale smoke within kRealSteps batches.
constexpr double kRealLearningRate = 0.02;
constexpr int64_t kRealSteps = 16;

// scale: of `row`; smallest: the one to train at. keeps_storage: whether a slice reads from the row's
// storage, not raw pixels. The backend of ranks is left as it is: the caller chooses one that starts here.
Row real_twin(const Row& row, RealWork work, const Scale& scale, const Scale& smallest, bool keeps_storage,
              const AxisValues& values);

// Text that is equal for twins that do the same work.
std::string work_of(const Row& twin);

// What the steps showed. Neither member is set without a step.
struct RealSteps {
  std::optional<RecordCheck> check;  // `trained`
  std::string why_not;               // why they can't run here
  bool failed() const { return check && !check->ok; }
  void write_to(Record& record) const;
};

class RealTraining {
 public:
  RealTraining(const Installation& installation, const Request& request);

  // `setting`: of the run. Both train once for all rows with the same work, and return nullopt after Ctrl-C.
  // The rows' link and their number of processes are real where this machine can have them.
  std::optional<RealSteps> steps(const RowSetting& setting, const PlannedRow& planned);
  // A line of training.jsonl. plan: the rows that are to train a slice, for which images are prepared once.
  std::optional<Record> slice(const RowSetting& setting, const PlannedRow& planned,
                              const std::vector<PlannedRow>& plan);

 private:
  struct Done {
    std::string row;  // that the work was done for
    Record record;
  };
  std::optional<Done> train(const RowSetting& of_run, const DataSets& data, const std::string& row,
                            const Row& twin, RealWork work);

  Request request_;
  Scale smallest_;
  LiveLine line_;
  std::map<std::string, Done> done_;  // by work_of()
  std::set<std::string> failed_;      // once
  std::optional<DataSets> slice_data_;
};

}  // namespace harness
