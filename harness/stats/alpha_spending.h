// When `ab --until` looks at its results, and how sure each look must be so that all of them together are
// wrong in at most 5 % of the experiments without a difference.
//
// Alpha spending (Lan & DeMets 1983, Biometrika 70, 659-663) with a fixed schedule: look k, after kFirstLook
// pairs and then after each 1.4 times as many, uses the level kLevel / (k (k + 1)). These levels sum to it,
// so that by the union bound it doesn't matter when one stops, whatever the dependence between looks. Each
// look is the exact signed-rank test of paired_effect(). At the end of the time, after pairs that are not a
// look's, the level of the next look is used, which then doesn't take place.
#pragma once
#include <cstddef>

namespace harness {

bool is_look(size_t pairs);

// Level of the test after so many pairs, at least kFirstLook.
double level_after(size_t pairs);

}  // namespace harness
