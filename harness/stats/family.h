// What a row's time hangs on, and with it how its runs scatter.
#pragma once
#include "harness/contract/record.h"

namespace harness {

// Decided from settings and ceilings, never from the row's own seconds, so that choosing a family can't make
// a difference look sure.
enum class Family {
  modelled,   // an emulated device or a set rate of reading; on a GPU the device
  ranks,      // the same device, and ranks that wait for one another
  loader,     // the loader is about as slow as the device, or its ceiling wasn't measured
  processor,  // computes and decodes on this machine's cores
  storage,    // reads from a real disk or object store
  link,       // sends real bytes between nodes
  started,    // modelled, and timed from the first batch on: the start of the loader is part of it
};
const char* text_of(Family family);

// `runs`: all of one row, at least one.
Family family_of(const RecordList& runs);

}  // namespace harness
