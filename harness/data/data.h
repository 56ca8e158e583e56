// Getting the images ready that the rows of a run need: a stand-in set unless a folder was given, its index,
// and the packed copies of the storages that want one. All the work is done by make_dataset.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "harness/config/config.h"
#include "harness/config/installation.h"
#include "harness/config/request.h"
#include "harness/contract/record_parts.h"
#include "harness/data/packed_store.h"
#include "harness/data/transient_copy.h"

namespace harness {

struct Data {
  fs::path index, validation;                        // of train and, where rows need it, of val; else empty
  RecordData description;                            // `data` of a record
  std::map<std::string, std::string> packed;         // storage -> location, possibly empty
  std::map<std::string, std::string> notes;          // storage -> what happened otherwise than asked
  std::vector<std::unique_ptr<TransientCopy>> held;  // copies that live as long as some run's Data
  std::unique_ptr<CopiesInUse> in_use;               // keeps `make_dataset prune` from the packed copies
  int64_t images() const { return description.images.value_or(0); }
};

// Images that one rank set of this row reads in a slice, read-ahead of the ring included.
int64_t images_read(const Row& row);

// Size of a stand-in set: the scale's, or more so that every cold row reads each image at most once. The
// learnable set has half as many more in val.
int64_t images_needed(const Scale& scale, const std::vector<Row>& rows);

// The images of a run's rows. Without a folder of the user's, rows with `validation` have a stand-in set of
// their own, whose classes can be learned.
struct DataSets {
  std::shared_ptr<const Data> plain = std::make_shared<Data>(), learnable = plain;
  const Data& of(const Row& row) const { return row.validation ? *learnable : *plain; }
};

DataSets prepare_data(const Installation& installation, const Request& request, const Scale& scale,
                      const std::vector<Row>& rows, const AxisValues& values);

}  // namespace harness
