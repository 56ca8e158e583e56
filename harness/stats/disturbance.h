// Processor time that others took from a row, and the row's seconds without it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/experiment/policy/policy.h"
#include "harness/stats/records.h"

namespace harness {

// Share of the row's cores that others took in the timed batches, 0-1: other machines of the hypervisor
// (stolen) and other processes of this one. Records without these figures have the stolen share of the whole
// row. Nullopt if the record has neither.
std::optional<double> others_share(const Record& record);

double most_taken_share(const RecordList& records);  // the largest others_share; 0 without any
// The size of the largest change of the clock, 0-1; 0 for records that wait, whose idle cores may clock down.
double most_changed_clock(const RecordList& records);
// The larger of the record's two shares: what attempts of a row are compared by.
double disturbance_of(const Record& record);
// Whether the row's figures suffer so much that it should run again.
bool is_disturbed(const Record& record);
// `others took up to 12 % of the CPU time; the clock changed by 7 %`; empty if no run was disturbed.
std::string disturbance_text(const RecordList& records);

// Whether the row's seconds grow in proportion to what others take: it computes and decodes on the processor
// all the time and waits for no disk, link or emulated device.
bool is_processor_bound(const Record& record);

// total_s x (1 - others_share): the row alone would have taken at least so long. The share counts
// time taken on cores that the row left idle, too, which cost it nothing. Tried with nine pairs of runs while
// 2 to 38 % of the time was stolen: the spread of the seconds fell from 17-24 % to 5 %.
double undisturbed_s(const Record& record);

// How the seconds of some runs are compared: as measured, or undisturbed_s() of all of them if each is
// processor-bound and others disturbed at least one.
class ComparedSeconds {
 public:
  ComparedSeconds(const RecordList& a, const RecordList& b);
  bool undisturbed() const { return undisturbed_; }
  double share_left(const Record& record) const;  // of the measured seconds; 1 unless undisturbed()
  double of(const Record& record) const;
  std::vector<double> of(const RecordList& records) const;

 private:
  bool undisturbed_ = false;
};

}  // namespace harness
