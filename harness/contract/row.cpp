// The field table: adding a field to a row is one member in row.h and one line here.
#include "harness/row.h"

#include <stdexcept>

#include "harness/published_ms.h"

namespace harness {

const std::vector<Field>& fields() {
  static const std::vector<Field> table = {
      {"id", &Row::id, "name of the row, as --only takes it"},
      {"title", &Row::title, "what the row is, in a few words"},
      {"base", &Row::base, "id of the row that this one is compared with"},
      {"identity",
       &Row::identity,
       "how sure it is that the article ran this very row",
       0,
       0,
       {"stated", "inferred", "weakly inferred", "control", "own"}},
      {"inferred", &Row::inferred, "fields of this row that the article does not state, comma separated"},
      {"published_s", &Row::published_s, "seconds per 300 batches that the article states, 0: no figure"},
      {"published_ms",
       &Row::published_ms,
       "ms of one batch that the article states: `h2d=13.6 forward=67.3 forward_launch=15.4`",
       0,
       0,
       {},
       nullptr,
       published_ms_problem},
      {"published_note", &Row::published_note, "what the article says of the row, or of its figure"},
      {"window",
       &Row::window,
       "batches that the article timed: from the first, or the middle 300 of 500",
       0,
       0,
       {"0-299", "100-399"}},
      {"device", &Row::device, "what computes", 0, 0, {}, "device"},
      {"nodes", &Row::nodes, "machines", 1, 1024},
      {"devices", &Row::devices, "devices per node", 1, 1024},
      {"strategy", &Row::strategy, "how several devices are used", 0, 0, {}, "strategy"},
      {"backend", &Row::backend, "collectives of a strategy with several processes", 0, 0, {}, "backend"},
      {"link", &Row::link, "what joins the nodes", 0, 0, {}, "link"},
      {"link_rate_mbit", &Row::link_rate_mbit, "rate of an emulated link in Mbit/s, 0: unshaped"},
      {"precision",
       &Row::precision,
       "number formats of weights, activations and optimizer",
       0,
       0,
       {},
       "precision"},
      {"sync_bn", &Row::sync_bn, "batch-norm statistics over all ranks"},
      {"storage", &Row::storage, "where encoded images come from", 0, 0, {}, "storage"},
      {"order", &Row::order, "order of records within an epoch", 0, 0, {"shuffled", "in_order", "windowed"}},
      {"interleave", &Row::interleave, "order windowed: shards that give records in turn", 1, 1024},
      {"shuffle_window", &Row::shuffle_window, "order windowed: records that are shuffled among each other",
       1, 1e9},
      {"cache",
       &Row::cache,
       "page cache before the slice: dropped, filled, or left as it is",
       0,
       0,
       {"cold", "warm", "as_is"}},
      {"readahead", &Row::readahead, "let the kernel read ahead in files and mapped databases"},
      {"read_rate", &Row::read_rate, "emulated limit of storage reads per node, bytes/s, 0: none"},
      {"read_latency_ms", &Row::read_latency_ms, "emulated delay of each record read, ms", 0, 60000},
      {"store_rate_mbit", &Row::store_rate_mbit,
       "rate of the emulated link to an object store in Mbit/s, 0: unshaped", 0, 1e6},
      {"store_latency_ms", &Row::store_latency_ms,
       "what the emulated link to an object store takes there and back, ms", 0, 10000},
      {"cpus", CountInC0{&Row::cpus}, "cores that all processes of a node may use", 1, 65536},
      {"loader_threads", CountInC0{&Row::loader_threads},
       "loader threads per node, 0: load in the training thread", 0, 512},
      {"ring_depth", &Row::ring_depth, "batches that the loader may hold ready, per rank", 1, 1024},
      {"pin_loader_threads", &Row::pin_loader_threads, "each loader thread stays on one core"},
      {"batch_format",
       &Row::batch_format,
       "what the loader hands over: normalised float32 as NCHW or as NHWC (channels_last), or uint8 NHWC "
       "that the "
       "device normalises",
       0,
       0,
       {"float32", "channels_last", "uint8"}},
      {"intra_op_threads", &Row::intra_op_threads, "compute threads of one CPU device", 1, 1024},
      {"pinned", &Row::pinned, "host batches lie in pinned memory (GPUs)"},
      {"non_blocking", &Row::non_blocking, "the host doesn't wait for the copy of a batch to end (GPUs)"},
      {"cudnn_benchmark", &Row::cudnn_benchmark,
       "cuDNN tries its algorithms in warm-up and keeps the fastest (GPUs)"},
      {"tf32", &Row::tf32,
       "convolutions in float32 may multiply in TF32, as PyTorch has it by default (GPUs)"},
      {"channels_last", &Row::channels_last, "weights and activations as NHWC in memory"},
      {"prefetch", &Row::prefetch,
       "batches are copied on a stream of their own while the step before computes; off: in the stream that "
       "computes, as PyTorch's .to() does (GPUs)"},
      {"cuda_graphs", &Row::cuda_graphs,
       "forward, loss, backward and optimizer are recorded as CUDA graphs once and replayed (GPUs)"},
      {"decoder",
       &Row::decoder,
       "what decodes JPEG files: the loader's threads, or nvJPEG on the GPU, started by them",
       0,
       0,
       {"cpu", "nvjpeg"}},
      {"gpu_sampling_ms", &Row::gpu_sampling_ms,
       "time between two readings of the GPU's load, clock, power and temperature during the slice, 0: none",
       0, 60000},
      {"model", &Row::model, "network", 0, 0, {"resnet18"}},
      {"width", &Row::width, "channels after the first convolution (article: 64)", 1, 4096},
      {"image_px", &Row::image_px, "side of the training crop in pixels (article: 224)", 32, 1024},
      {"classes", &Row::classes, "outputs of the classifier", 2, 1000000},
      {"batch", &Row::batch, "images per batch over all devices; in a config at the article's scale", 1,
       1 << 20},
      {"learning_rate", &Row::learning_rate, "SGD learning rate", 0, 1e6},
      {"momentum", &Row::momentum, "SGD momentum", 0, 1},
      {"weight_decay", &Row::weight_decay, "SGD weight decay", 0, 1},
      {"fused_sgd", &Row::fused_sgd, "SGD in one pass over the weights (off: an operation at a time)"},
      {"bucket_mib", &Row::bucket_mib, "gradient bucket of DDP, MiB", 0.001, 1e6},
      {"first_bucket_mib", &Row::first_bucket_mib, "first gradient bucket of DDP, MiB", 0.001, 1e6},
      {"broadcast_buffers", &Row::broadcast_buffers,
       "DDP sends batch-norm statistics from rank 0 before each forward"},
      {"gradient_as_bucket_view", &Row::gradient_as_bucket_view,
       "DDP's gradients live in its buckets instead of being copied there and back"},
      {"static_buckets", &Row::static_buckets,
       "DDP keeps the buckets of the order of the parameters (off: rebuilt in the order of the gradients)"},
      {"compression",
       &Row::compression,
       "16-bit type that DDP's buckets travel in",
       0,
       0,
       {"none", "bf16", "fp16"}},
      {"message_size", &Row::message_size, "elements at which a bucket of APEX closes", 1, 1e12},
      {"delay_allreduce", &Row::delay_allreduce, "APEX reduces all gradients after backward, none during it"},
      {"fusion_mib", &Row::fusion_mib, "Horovod's fusion buffer, MiB", 0.001, 1e6},
      {"cycle_ms", &Row::cycle_ms, "time between two negotiations of Horovod, ms", 0, 60000},
      {"validation", &Row::validation,
       "classify the images of val/ after the slice; `classes` is then the data set's, and each repeat has a "
       "seed of "
       "its own"},
      {"warmup_batches", &Row::warmup_batches, "untimed batches before the window", 0, 1000000},
      {"timed_batches", &Row::timed_batches, "timed batches", 1, 1000000},
      {"seed", &Row::seed, "seed of weights, order and augmentation", 0, 9007199254740991.0},
      {"loss_every", &Row::loss_every,
       "batches from one reading of loss and accuracy by the host to the next; each waits for the device "
       "(GPUs)",
       1, 1000000},
      {"phase_clock", &Row::phase_clock,
       "take phase times (off: only the whole window, to measure the clock's cost)"},
      {"malloc", &Row::malloc, "allocator policy of the rank processes", 0, 0, {"retain", "system"}},
      {"ceiling_batches", &Row::ceiling_batches,
       "batches after the slice that measure loader and compute alone, 0: none", 0, 1000000},
      {"host_work_ms", &Row::host_work_ms,
       "emulated work of the training thread per batch, ms of its processor time", 0, 60000},
  };
  return table;
}

const Field* find_field(const std::string& name) {
  for (const Field& field : fields())
    if (name == field.name) return &field;
  return nullptr;
}

nlohmann::json to_json(const Row& row) {
  nlohmann::json object = nlohmann::json::object();
  for (const Field& field : fields())
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<decltype(member), CountInC0>)
            object[field.name] = row.*(member.member);
          else
            object[field.name] = row.*member;
        },
        field.member);
  return object;
}

Row row_from_json(const nlohmann::json& object) {
  Row row;
  for (const auto& [key, value] : object.items()) {
    const Field* field = find_field(key);
    if (!field) throw std::invalid_argument("unknown field '" + key + "' in a resolved row");
    try {
      std::visit(
          [&, &value = value](auto member) {
            if constexpr (std::is_same_v<decltype(member), CountInC0>)
              value.get_to(row.*(member.member));
            else
              value.get_to(row.*member);
          },
          field->member);
    } catch (const nlohmann::json::exception& error) {
      throw std::invalid_argument("field '" + key + "': " + error.what());
    }
  }
  return row;
}

}  // namespace harness
