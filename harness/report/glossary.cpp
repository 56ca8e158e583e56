// The list of terms and definitions, with the column headers under which a term also appears.
#include "harness/report/glossary.h"

namespace harness {

const std::vector<Term>& glossary() {
  static const std::vector<Term> terms = {
      {"scale", "the sizes at which the rows run: batch, image, network, number of batches", {}},
      {"C0", "the scale's number of cores and loader threads; rows have multiples of it", {}},
      {"device", "what computes: a GPU, an emulated one, or a replica on the processor; never a disk", {}},
      {"step", "one batch from the wait for its images to the optimizer's end; phases are parts of it", {}},
      {"load", "phase: the training thread waits for a batch of the loader", {}},
      {"move", "phases h2d, scatter and broadcast: images and weights to the devices", {}},
      {"fwd", "phase forward", {}},
      {"bwd", "phase backward", {}},
      {"comm", "phases reduce and sync: waits for gradients of other devices or ranks", {}},
      {"computing", "phases forward, loss, backward and step, whatever slows them down", {}},
      {"cost of loading",
       "what the step would lose without a loader: phase load or, if this is more, by how much the step is "
       "longer than on a made-up batch, because loader threads also take cores from computing",
       {}},
      {"exposed ms",
       "communication per batch that computing did not hide: phases broadcast and sync, and waits of SyncBN",
       {}},
      {"loader", "images/s of the loader alone: a ceiling of the row", {}},
      {"compute", "images/s of the step on a made-up batch, without a loader: a ceiling of the row", {}},
      {"all-reduce", "images/s that the all-reduces alone would allow: a ceiling of the row", {}},
      {"headroom", "from the row's images/s to the lower of the ceilings loader and compute", {}},
      {"ratio to", "seconds of the named base / seconds of the row: above 1 the row is faster", {"ratio"}},
      {"article", "the same ratio from the article's figures", {}},
      {"others %", "share of the row's processor time that other processes and virtual machines took", {}},
  };
  return terms;
}

}  // namespace harness
