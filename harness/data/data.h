// Images of a run: prepared, packed, and copied to memory and to each node.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "harness/base/child_process.h"
#include "harness/config/config.h"
#include "harness/config/installation.h"
#include "harness/config/request.h"
#include "harness/contract/record_parts.h"
#include "harness/data/packed_store.h"

namespace harness {

struct Data {
  fs::path index, validation;                        // of train and, if rows need it, of val; otherwise empty
  RecordData description;                            // `data` of a record
  std::map<std::string, std::string> packed;         // storage -> location, possibly empty
  std::map<std::string, double> copied_in_s;         // storage -> time of making its copy, if known
  std::map<std::string, std::string> notes;          // storage -> deviation from the request
  std::vector<std::unique_ptr<TransientCopy>> held;  // copies that exist while a run's Data uses them
  std::unique_ptr<CopiesInUse> in_use;               // protects the packed copies from `make_dataset prune`
  int64_t images() const { return description.images.value_or(0); }
};

// Images that all ranks of this row read in a slice, including those read ahead into the ring, and for a cold
// row's ceiling after it.
int64_t images_read(const Row& row);

// Number of stand-in images in train: the scale's, or more, so that each cold row reads every image at most
// once. The learnable set has half that number in val.
int64_t images_needed(const Scale& scale, const std::vector<Row>& rows);

// The images of a run's rows. Without --data, rows with `validation` use a separate stand-in set, whose
// classes can be learned.
struct DataSets {
  std::shared_ptr<const Data> plain = std::make_shared<Data>(), learnable = plain;
  const Data& of(const Row& row) const { return row.validation ? *learnable : *plain; }
};

DataSets prepare_data(const Installation& installation, const Request& request, const Scale& scale,
                      const std::vector<Row>& rows, const AxisValues& values);

// Returns a command that runs the given program once on every node of a run; without arguments when all ranks
// run on this machine.
using OnEveryNode = std::function<base::Command(const std::vector<std::string>& program)>;

class NodeCopies {
 public:
  // Makes the transient copies (tmpfs) of `data` on every node. All nodes must be able to access the folders
  // of the index and the images. Throws PreparationError.
  NodeCopies(const Installation& installation, const Data& data, const AxisValues& values,
             OnEveryNode on_every_node);
  ~NodeCopies();  // removes the copies
  NodeCopies(const NodeCopies&) = delete;
  NodeCopies& operator=(const NodeCopies&) = delete;

 private:
  OnEveryNode on_every_node_;
  std::set<std::string> locations_;
};

}  // namespace harness
