// Computes a network on one device, or on two as a pipeline of micro-batches with a thread for the second.
#include "bench/train/strategy/replica.h"

#include <ATen/Parallel.h>
#include <ATen/ops/cat.h>

#include "bench/train/strategy/worker_thread.h"

namespace bench {

void Replica::forget_intervals() {
  for (auto& of_stage : intervals_) of_stage.clear();
}

void Replica::work(size_t stage, Phase phase, const std::function<void()>& compute) {
  const auto begin = std::chrono::steady_clock::now();
  compute();
  intervals_[stage].push_back({phase, begin, std::chrono::steady_clock::now()});
}

namespace {

class WholeReplica : public Replica {
 public:
  WholeReplica(const StrategyContext& context, Model& model)
      : Replica(1), model_(model), precision_(context.precision) {}

  at::Tensor forward(const at::Tensor& images) override {
    forget_intervals();
    work(0, Phase::forward, [&] { logits_ = precision_.forward(model_, images); });
    return logits_.detach();
  }
  void backward(const at::Tensor& gradient) override {
    work(0, Phase::backward, [&] { logits_.backward(gradient); });
  }

 private:
  Model& model_;
  Precision& precision_;
  at::Tensor logits_;
};

class SplitReplica : public Replica {
 public:
  SplitReplica(const StrategyContext& context, Model& model, at::Device second, int64_t number)
      : Replica(2),
        model_(model),
        precision_(context.precision),
        parts_(context.row.pipeline_micro_batches),
        first_stage_{0, model.units() / 2},
        second_stage_{model.units() / 2, model.units()},
        second_(second),
        thread_([threads = int(context.row.intra_op_threads), accelerator = context.device.accelerator(),
                 number] {
          at::set_num_threads(threads);
          if (accelerator) accelerator->enter(number);
        }) {
    model.to(second, context.row.channels_last, second_stage_);
  }

  at::Tensor forward(const at::Tensor& images) override {
    forget_intervals();
    const std::vector<at::Tensor> inputs = images.chunk(parts_);
    parts_under_way_.assign(inputs.size(), {});
    for (size_t i = 0; i < inputs.size(); ++i) {
      Part& part = parts_under_way_[i];
      work(0, Phase::forward, [&] { part.sent = precision_.forward(model_, inputs[i], first_stage_); });
      if (i > 0) thread_.wait();
      // The graph is cut here. A copy occupies the streams of both devices, and what either is given later
      // waits for it: so the second one has got its work on the part before by now, and the first one's next
      // work follows.
      part.received = part.sent.detach().to(second_, /*non_blocking=*/true).set_requires_grad(true);
      thread_.start([this, &part] {
        work(1, Phase::forward,
             [&] { part.logits = precision_.forward(model_, part.received, second_stage_); });
      });
    }
    thread_.wait();
    std::vector<at::Tensor> logits;
    for (const Part& part : parts_under_way_) logits.push_back(part.logits.detach());
    return at::cat(logits);
  }

  void backward(const at::Tensor& gradient) override {
    int64_t first_image = 0;
    for (Part& part : parts_under_way_) {
      part.gradient = gradient.narrow(0, first_image, part.logits.size(0));
      first_image += part.logits.size(0);
    }
    start_backward_of_second(0);
    for (size_t i = 0; i < parts_under_way_.size(); ++i) {
      thread_.wait();
      Part& part = parts_under_way_[i];
      part.gradient = part.received.grad().to(part.sent.device(), /*non_blocking=*/true);  // as in forward()
      if (i + 1 < parts_under_way_.size()) start_backward_of_second(i + 1);
      work(0, Phase::backward, [&] { part.sent.backward(part.gradient); });
      part = {};
    }
  }

 private:
  struct Part {
    at::Tensor sent, received;  // the first stage's output, with its graph, and its copy on the second device
    at::Tensor logits;
    at::Tensor gradient;  // of the logits, then of what was sent
  };

  void start_backward_of_second(size_t number) {
    thread_.start([this, &part = parts_under_way_[number]] {
      work(1, Phase::backward, [&] { part.logits.backward(part.gradient); });
    });
  }

  Model& model_;
  Precision& precision_;
  const int64_t parts_;
  const Units first_stage_, second_stage_;
  const at::Device second_;
  std::vector<Part> parts_under_way_;
  WorkerThread thread_;  // the second stage's; ends before what it uses
};

}  // namespace

std::unique_ptr<Replica> make_whole_replica(const StrategyContext& context, Model& model) {
  return std::make_unique<WholeReplica>(context, model);
}

std::unique_ptr<Replica> make_split_replica(const StrategyContext& context, Model& model, at::Device second,
                                            int64_t number) {
  return std::make_unique<SplitReplica>(context, model, second, number);
}

}  // namespace bench
