// train: the lockstep of bench_micro's collectives: wrong results are noticed on every rank and get no time.
#include "bench/micro/collectives/lockstep.h"

#include <gtest/gtest.h>

#include <functional>
#include <future>

#include "bench/micro/collectives/c10d_carrier.h"
#include "harness/base/listener.h"

namespace lockstep_test {

using namespace bench;

// Gloo, except for one element of what `rank` gets from `operation`.
class Wrong : public C10dCarrier {
 public:
  Wrong(c10d::ProcessGroup& group, Operation operation, int rank)
      : C10dCarrier(group), operation_(operation), wrong_here_(group.getRank() == rank) {}
  void run(Operation operation, at::Tensor& tensor) override {
    C10dCarrier::run(operation, tensor);
    if (operation == operation_ && wrong_here_ && tensor.numel() > 200) tensor[200] += 1;
  }

 private:
  const Operation operation_;
  const bool wrong_here_;
};

// What rank 0 of two, threads of this process, measures in lockstep over these carriers.
std::vector<Times> lead(const std::function<std::vector<NamedCarrier>(c10d::ProcessGroup&)>& carriers_over,
                        const std::vector<Run>& runs) {
  const base::Listener listener(0, false);
  const auto rank = [&](int number) {
    GroupOptions options;
    options.rank = {number, 2, number, 2, 0, "127.0.0.1", listener.port(), number ? -1 : listener.fd()};
    const auto group = GroupRegistry::instance().find("gloo")(options);
    const auto carriers = carriers_over(*group->process_group());
    Lockstep ranks(carriers, *group);
    std::vector<Times> times;
    if (number == 0) {
      for (const Run& run : runs) times.push_back(ranks.lead(run));
      ranks.end();
    } else {
      ranks.follow();
    }
    group->barrier();
    return times;
  };
  auto other = std::async(std::launch::async, rank, 1);
  const std::vector<Times> times = rank(0);
  other.get();
  return times;
}

TEST(Lockstep, TimesCallsAndTheirBarePartners) {
  const auto times = lead(
      [](c10d::ProcessGroup& group) {
        std::vector<NamedCarrier> carriers;
        carriers.push_back({"gloo", std::make_unique<C10dCarrier>(group), "bare"});
        carriers.push_back({"bare", std::make_unique<C10dCarrier>(group), ""});
        return carriers;
      },
      {{int(Operation::all_reduce), 0, 1024, 5}, {int(Operation::point_to_point), 1, 4096, 3}});
  EXPECT_TRUE(times[0].right && times[1].right);
  EXPECT_EQ(times[0].calls.size(), 5u);
  EXPECT_EQ(times[0].bare_calls.size(), 5u);
  EXPECT_EQ(times[1].calls.size(), 3u);
  EXPECT_TRUE(times[1].bare_calls.empty());
  for (const double seconds : times[0].calls) EXPECT_GT(seconds, 0);
}

TEST(Lockstep, GivesNoTimesForAWrongResultOfAnyRank) {
  for (const auto operation :
       {Operation::all_reduce, Operation::broadcast, Operation::reduce, Operation::point_to_point})
    for (const int rank : {0, 1}) {
      const auto times = lead(
          [&](c10d::ProcessGroup& group) {
            std::vector<NamedCarrier> carriers;
            carriers.push_back({"wrong", std::make_unique<Wrong>(group, operation, rank), ""});
            carriers.push_back({"right", std::make_unique<C10dCarrier>(group), "wrong"});
            carriers.push_back({"alone", std::make_unique<C10dCarrier>(group), ""});
            return carriers;
          },
          {{int(operation), 0, 1024, 2}, {int(operation), 1, 1024, 2}, {int(operation), 2, 1024, 2}});
      const bool defined = operation != Operation::reduce || rank == 0;  // elsewhere any value will do
      EXPECT_EQ(times[0].right, !defined) << int(operation) << " on rank " << rank;
      EXPECT_EQ(times[0].calls.empty(), defined);
      EXPECT_EQ(times[1].right, !defined) << "its bare partner is wrong";
      EXPECT_TRUE(times[2].right);
      EXPECT_EQ(times[2].calls.size(), 2u);
    }
}

}  // namespace lockstep_test
