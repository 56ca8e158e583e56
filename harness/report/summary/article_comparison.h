// Rows on emulated devices in the article's scale, beside its figures and the closed-form model.
//
// Every modelled duration is that of the article's batch times `time_scale`, divided by the batch's divisor,
// so a row's seconds times divisor / time_scale are the article's seconds, for as many batches; the article
// times 300.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

inline constexpr double kArticleBatches = 300;

struct ArticleComparison {
  const SummaryRow* row = nullptr;  // owned by the summary
  // Article's seconds per 300 batches; empty for a row that is not OK. Range over the repeats.
  std::optional<double> emulated_s, low_s, high_s;
  std::optional<double> model_s;    // of the closed-form model, for the same rows if it describes them
  bool model_has_load = true;       // the record has the loader's ceiling
  std::optional<double> article_s;  // as the article states it
  std::string calibrated_on;        // the article's figures of this row in the device file; empty: none
  bool predicted = false;           // the device file was calibrated on the article, and not on this row
  // The row waits for its loader, whose rate is a setting (read_rate, core_images_per_s): its time follows
  // from that setting.
  bool loader_rate_is_set = false;
  std::string differs;  // settings by which it is another row than the article's: made-up batches, cpus, ...

  bool ok() const { return emulated_s.has_value(); }
  // emulated_s / article_s - 1 of a row that is predicted: what the device was calibrated on, or follows from
  // a setting, has no accuracy.
  std::optional<double> error() const;
};

// Whether the loader alone reached at least nine tenths of what the row's emulated cores decode; true where
// that was not measured.
bool loader_reaches_its_cores(const Record& record);

// The article's rows of a summary on emulated devices, in its order; empty for other devices and for scale
// smoke, whose figures mean nothing.
std::vector<ArticleComparison> article_comparisons(const Summary& summary);

struct RowRate {
  // Owned by the summary; `first`: the one with which its chain of bases begins.
  const SummaryRow *row = nullptr, *first = nullptr;
  // This run, and its range over the repeats; empty unless it is OK.
  std::optional<double> here = {}, low = {}, high = {};
  std::optional<double> article = {};  // empty where the article states none or it can't be compared
  bool by_construction = false;        // `here` follows from a setting or from the article's figure itself
  int64_t batch = 0;                   // images per batch of `here`
};

struct Rates {
  // Rows of another size than the article's, on real devices: not images/s but multiples of the row with
  // which the row's chain of bases begins. Only these can be compared.
  bool multiples = false;
  std::vector<RowRate> rows;  // in the order of the summary
};

// On emulated devices images/s are the article's, since their records are at full size (at_full_size()).
Rates rates_of(const Summary& summary);

}  // namespace harness
