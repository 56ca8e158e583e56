// The field table: a new field needs one member in row.h and one entry here.
#include "harness/contract/row.h"

#include <stdexcept>

#include "harness/contract/answer_figures.h"
#include "harness/contract/loader_command.h"
#include "harness/contract/published_ms.h"

namespace harness {

const std::vector<Field>& fields() {
  // Entries keep .help on a separate line.
  // clang-format off
  static const std::vector<Field> table = {
      {.name = "id", .member = &Row::id, .role = Role::descriptive,
       .help = "name of the row, as used in --only"},
      {.name = "title", .member = &Row::title, .role = Role::descriptive,
       .help = "what the row is, in a few words"},
      {.name = "base", .member = &Row::base, .role = Role::descriptive,
       .help = "id of the row that this one is compared with"},
      {.name = "identity", .member = &Row::identity, .role = Role::descriptive,
       .help = "how sure it is that the article ran this very row; own: it did not, and its claims are left out",
       .choices = {"stated", "inferred", "weakly inferred", "control", "own"}},
      {.name = "inferred", .member = &Row::inferred, .role = Role::descriptive,
       .help = "fields of this row that the article does not state, comma separated"},
      {.name = "published_s", .member = &Row::published_s, .role = Role::descriptive, .unit = "s",
       .help = "seconds per 300 batches that the article states, 0: no figure", .max = 1e9},
      {.name = "published_ms", .member = &Row::published_ms, .role = Role::descriptive, .unit = "ms",
       .help = "ms of one batch that the article states: `h2d=13.6 forward=67.3 forward_launch=15.4`",
       .problem = published_ms_problem},
      {.name = "published_note", .member = &Row::published_note, .role = Role::descriptive,
       .help = "remark of the article about the row or its figure"},
      {.name = "question", .member = &Row::question, .role = Role::descriptive,
       .help = "what the comparison with the base answers"},
      {.name = "answer", .member = &Row::answer, .role = Role::descriptive,
       .help = "figures that answer it, comma separated: loading, transfer, processing, ...",
       .problem = answer_figures_problem},
      {.name = "skip", .member = &Row::skip, .role = Role::descriptive,
       .help = "why the row is left out: it is listed as SKIPPED with this reason"},
      {.name = "window", .member = &Row::window, .role = Role::sizing,
       .help = "batches that the article timed: from the first, or the middle 300 of 500",
       .choices = {"0-299", "100-399"}, .trains = false},
      {.name = "engine", .member = &Row::engine,
       .help = "program that trains: libtorch: train_slice of this suite; pytorch: the same step in Python's PyTorch "
               "(bench/twin), with cuda_graphs as a torch.cuda.graph; pytorch_compiled: that with "
               "torch.compile(mode=max-autotune)", .choices = {"libtorch", "pytorch", "pytorch_compiled"}},
      {.name = "device", .member = &Row::device,
       .help = "device that computes", .axis = "device"},
      {.name = "device_file", .member = &Row::device_file,
       .help = "device emulated: configs/devices/NAME.yaml, which says how long its kernels and copies take",
       .trains = false},
      {.name = "time_scale", .member = &Row::time_scale, .role = Role::sizing,
       .help = "device emulated: every duration of the device file is multiplied by this", .min = 1e-6, .max = 1e6,
       .trains = false},
      {.name = "core_images_per_s", .member = &Row::core_images_per_s, .unit = "images/s",
       .help = "device emulated: what one of the row's `cpus` decodes, divided by time_scale; 0: what this machine's do",
       .max = 1e6, .least = 1e-3, .trains = false},
      {.name = "wire", .member = &Row::wire,
       .help = "device emulated, several nodes: the bytes of NCCL's ring or of its tree cross the link",
       .choices = {"ring", "tree"}, .trains = false},
      {.name = "wire_divisor", .member = &Row::wire_divisor, .role = Role::sizing,
       .help = "device emulated, several nodes: bytes and rate of the link are divided by this", .min = 1, .max = 65536,
       .trains = false},
      {.name = "nodes", .member = &Row::nodes,
       .help = "machines", .min = 1, .max = 1024},
      {.name = "devices", .member = &Row::devices,
       .help = "devices per node", .min = 1, .max = 1024},
      {.name = "strategy", .member = &Row::strategy,
       .help = "how several devices are used", .axis = "strategy"},
      {.name = "backend", .member = &Row::backend,
       .help = "library of collectives for strategies with several processes", .axis = "backend"},
      {.name = "link", .member = &Row::link,
       .help = "network between the nodes", .axis = "link"},
      {.name = "link_rate_mbit", .member = &Row::link_rate_mbit, .unit = "Mbit/s",
       .help = "rate of an emulated link, 0: unshaped", .max = 1e6, .least = 1e-3, .trains = false},
      {.name = "precision", .member = &Row::precision,
       .help = "number formats of weights, activations and optimizer", .axis = "precision"},
      {.name = "sync_bn", .member = &Row::sync_bn,
       .help = "batch-norm statistics over all ranks"},
      {.name = "loader", .member = &Row::loader,
       .help = "what makes the batches: suite: this suite's loader; external: the Python program in `command`; "
               "external_alone: likewise, and its batches are dropped there instead of handed over, to find that step's cost",
       .choices = {"suite", "external", "external_alone"}, .trains = false},
      {.name = "command", .member = &Row::command,
       .help = "of an external loader: a Python, an adapter (a file NAME.py with a function `batches`) and its arguments; no "
               "shell reads it, and words with spaces stand in quotes; `python` is the one that PYTHON names",
       .problem = loader_command_problem, .trains = false},
      {.name = "compare_pixels", .member = &Row::compare_pixels,
       .help = "an external loader must make the pixels that this suite makes of the same crops (off: crops of its own)",
       .trains = false},
      {.name = "storage", .member = &Row::storage,
       .help = "where encoded images come from", .axis = "storage"},
      {.name = "order", .member = &Row::order,
       .help = "order of records within an epoch", .choices = {"shuffled", "in_order", "windowed"}},
      {.name = "interleave", .member = &Row::interleave,
       .help = "order windowed: shards that are read in turn", .min = 1, .max = 1024},
      {.name = "shuffle_window", .member = &Row::shuffle_window,
       .help = "order windowed: records in the shuffle buffer", .min = 1, .max = 1e9},
      {.name = "cache", .member = &Row::cache,
       .help = "page cache before the slice: dropped, filled, or left as it is",
       .choices = {"cold", "warm", "as_is"}, .trains = false},
      {.name = "readahead", .member = &Row::readahead,
       .help = "let the kernel read ahead in files and mapped databases", .trains = false},
      {.name = "read_rate", .member = &Row::read_rate, .unit = "bytes/s",
       .help = "emulated limit of storage reads per node, 0: none", .max = 1e12, .least = 1, .trains = false},
      {.name = "read_latency_ms", .member = &Row::read_latency_ms, .unit = "ms",
       .help = "emulated delay of each record read", .max = 60000, .trains = false},
      {.name = "store_rate_mbit", .member = &Row::store_rate_mbit, .unit = "Mbit/s",
       .help = "rate of the emulated link to an object store, 0: unshaped", .max = 1e6, .least = 1e-3, .trains = false},
      {.name = "store_latency_ms", .member = &Row::store_latency_ms, .unit = "ms",
       .help = "round-trip latency of the emulated link to an object store", .max = 10000, .trains = false},
      {.name = "cpus", .member = CountInC0{&Row::cpus},
       .help = "cores that all processes of a node may use", .min = 1, .max = 65536},
      {.name = "loader_threads", .member = CountInC0{&Row::loader_threads},
       .help = "loader threads per node, 0: load in the training thread", .max = 512},
      {.name = "ring_depth", .member = &Row::ring_depth, .unit = "batches",
       .help = "handing_over ring: batches that the loader may hold ready, per rank", .min = 1, .max = 1024},
      {.name = "handing_over", .member = &Row::handing_over,
       .help = "how loader threads make batches: ring: all threads work on the same batch, up to ring_depth batches ahead; "
               "dataloader: one thread makes a whole batch and two batches per thread are loaded ahead, as PyTorch's "
               "DataLoader does", .choices = {"ring", "dataloader"}, .trains = false},
      {.name = "pin_loader_threads", .member = &Row::pin_loader_threads,
       .help = "each loader thread stays on one core", .trains = false},
      {.name = "batch_format", .member = &Row::batch_format,
       .help = "format of the loader's batches: normalised float32 as NCHW or as NHWC (channels_last), or uint8 NHWC "
               "that the device normalises", .choices = {"float32", "channels_last", "uint8"}},
      {.name = "intra_op_threads", .member = CountInC0{&Row::intra_op_threads},
       .help = "compute threads of one CPU device", .min = 1, .max = 1024},
      {.name = "pinned", .member = &Row::pinned,
       .help = "host batches are in pinned memory (GPUs); an external loader's never are", .acts_on = ActsOn::gpus_and_emulated},
      {.name = "pin_thread", .member = &Row::pin_thread,
       .help = "batches are made in ordinary memory and one thread copies them into pinned memory, as PyTorch's DataLoader "
               "does with pin_memory (off: made in pinned memory; GPUs)", .acts_on = ActsOn::gpus},
      {.name = "non_blocking", .member = &Row::non_blocking,
       .help = "the host doesn't wait for the copy of a batch to end (GPUs)", .acts_on = ActsOn::gpus_and_emulated},
      {.name = "synchronize_copies", .member = &Row::synchronize_copies,
       .help = "after each batch's copy the host waits for the device (torch.cuda.synchronize), so that phase h2d has all "
               "of the copy (GPUs)", .acts_on = ActsOn::gpus_and_emulated},
      {.name = "cudnn_benchmark", .member = &Row::cudnn_benchmark,
       .help = "cuDNN tries its algorithms in warm-up and keeps the fastest (GPUs)", .acts_on = ActsOn::gpus},
      {.name = "tf32", .member = &Row::tf32,
       .help = "float32 convolutions may multiply in TF32, PyTorch's default (GPUs)", .acts_on = ActsOn::gpus},
      {.name = "channels_last", .member = &Row::channels_last,
       .help = "weights and activations as NHWC in memory"},
      {.name = "prefetch", .member = &Row::prefetch,
       .help = "batches are copied in a separate stream during the previous step; off: in the compute stream, as "
               "PyTorch's .to() does (GPUs)", .acts_on = ActsOn::gpus_and_emulated},
      {.name = "cuda_graphs", .member = &Row::cuda_graphs,
       .help = "forward, loss, backward and optimizer are recorded as CUDA graphs once and replayed (GPUs)",
       .acts_on = ActsOn::gpus},
      {.name = "fused_batch_norm", .member = &Row::fused_batch_norm,
       .help = "batch norm, the block's addition and ReLU as one operation, forward and backward, with kernels of this "
               "project (off: LibTorch's operations one after another) (GPUs)", .acts_on = ActsOn::gpus},
      {.name = "byte_pool_indices", .member = &Row::byte_pool_indices,
       .help = "max-pool remembers the places of its maxima in 8 bits, with a kernel of this project (off: in 64 bits) "
               "(GPUs)", .acts_on = ActsOn::gpus},
      {.name = "decoder", .member = &Row::decoder,
       .help = "decoder of JPEG files: cpu in the loader's threads; nvjpeg on the GPU, called by them for each file; "
               "nvjpeg_batched: called once for a batch",
       .choices = {"cpu", "nvjpeg", "nvjpeg_batched"}, .acts_on = ActsOn::gpus},
      {.name = "gpu_sampling_ms", .member = &Row::gpu_sampling_ms, .role = Role::measurement, .unit = "ms",
       .help = "time between two readings of the GPU's load, clock, power and temperature during the slice, "
               "0: none, and neither energy nor counters", .max = 60000, .acts_on = ActsOn::gpus},
      {.name = "model", .member = &Row::model, .role = Role::sizing,
       .help = "network", .axis = "model"},
      {.name = "dropout", .member = &Row::dropout, .role = Role::sizing,
       .help = "share of activations that training drops: before a ResNet's classifier, in a transformer after its sums",
       .max = 0.99},
      {.name = "width", .member = &Row::width, .role = Role::sizing,
       .help = "channels after the first convolution (article: 64)", .min = 1, .max = 4096},
      {.name = "image_px", .member = &Row::image_px, .role = Role::sizing, .unit = "px",
       .help = "side of the training crop (article: 224)", .min = 32, .max = 1024},
      {.name = "classes", .member = &Row::classes, .role = Role::sizing,
       .help = "outputs of the classifier", .min = 2, .max = 1000000},
      {.name = "batch", .member = &Row::batch, .role = Role::sizing, .unit = "images",
       .help = "images per batch over all devices; in a config at the article's scale", .min = 1, .max = 1 << 20},
      {.name = "accumulation", .member = &Row::accumulation,
       .help = "micro-batches of which each batch consists: forward and backward run on one after another, the "
               "optimizer once", .min = 1, .max = 65536},
      {.name = "sync_every_micro_batch", .member = &Row::sync_every_micro_batch,
       .help = "with accumulation, ranks all-reduce their gradients after each micro-batch (off: after the last, as in "
               "PyTorch's no_sync)"},
      {.name = "pipeline_micro_batches", .member = &Row::pipeline_micro_batches,
       .help = "strategy split_model: parts of a batch that pass through the two stages one after another, so that both "
               "stages are busy; 1: one stage waits for the other", .min = 1, .max = 65536},
      {.name = "optimizer", .member = &Row::optimizer,
       .help = "what updates the weights", .axis = "optimizer"},
      {.name = "learning_rate", .member = &Row::learning_rate,
       .help = "learning rate", .max = 1e6},
      {.name = "learning_rate_schedule", .member = &Row::learning_rate_schedule,
       .help = "learning rate over the batches of warm-up and window: constant; step: a tenth after each third, as in "
               "PyTorch's ImageNet example; cosine: down to 0 along half a cosine", .choices = {"constant", "step", "cosine"},
       .trains = false},
      {.name = "learning_rate_warmup", .member = &Row::learning_rate_warmup, .unit = "batches",
       .help = "first batches, in which the learning rate rises linearly from a hundredth; the schedule begins after them",
       .max = 1000000, .trains = false},
      {.name = "momentum", .member = &Row::momentum,
       .help = "momentum of SGD", .max = 1, .trains = false},
      {.name = "weight_decay", .member = &Row::weight_decay,
       .help = "weight decay", .max = 1},
      {.name = "fused_sgd", .member = &Row::fused_sgd,
       .help = "the optimizer (SGD, Adam) in one pass over the weights (off: one operation at a time)"},
      {.name = "bucket_mib", .member = &Row::bucket_mib, .unit = "MiB",
       .help = "gradient bucket of DDP", .min = 0.001, .max = 1e6},
      {.name = "first_bucket_mib", .member = &Row::first_bucket_mib, .unit = "MiB",
       .help = "first gradient bucket of DDP", .min = 0.001, .max = 1e6},
      {.name = "broadcast_buffers", .member = &Row::broadcast_buffers,
       .help = "DDP sends batch-norm statistics from rank 0 before each forward"},
      {.name = "gradient_as_bucket_view", .member = &Row::gradient_as_bucket_view,
       .help = "DDP's gradients are views into its buckets instead of being copied there and back"},
      {.name = "static_buckets", .member = &Row::static_buckets,
       .help = "DDP keeps its buckets in the order of the parameters (off: rebuilds them in the order of the gradients)"},
      {.name = "compression", .member = &Row::compression,
       .help = "16-bit type in which DDP sends its buckets", .choices = {"none", "bf16", "fp16"}},
      {.name = "message_size", .member = &Row::message_size, .unit = "elements",
       .help = "size at which APEX closes a bucket", .min = 1, .max = 1e12},
      {.name = "delay_allreduce", .member = &Row::delay_allreduce,
       .help = "APEX reduces all gradients after backward, not during it"},
      {.name = "fusion_mib", .member = &Row::fusion_mib, .unit = "MiB",
       .help = "Horovod's fusion buffer", .min = 0.001, .max = 1e6},
      {.name = "cycle_ms", .member = &Row::cycle_ms, .unit = "ms",
       .help = "time between two negotiations of Horovod", .max = 60000},
      {.name = "collectives", .member = &Row::collectives,
       .help = "off: during the slice collectives return at once with each rank's own values, which is no training (for "
               "`explain`)", .trains = false},
      {.name = "part", .member = &Row::part,
       .help = "part of the work that is done: all; loading: batches are taken from the loader and released, and nothing is "
               "trained; reading: likewise, and images are read but not decoded", .choices = {"all", "loading", "reading"}},
      {.name = "validation", .member = &Row::validation,
       .help = "classify the images of val/ after the slice; `classes` is then the data set's, and each repeat has "
               "a different seed", .trains = false},
      {.name = "warmup_batches", .member = &Row::warmup_batches, .role = Role::derived, .unit = "batches",
       .help = "untimed batches before the window", .max = 1000000},
      {.name = "timed_batches", .member = &Row::timed_batches, .role = Role::sizing, .unit = "batches",
       .help = "timed batches", .min = 1, .max = 1000000},
      {.name = "seed", .member = &Row::seed, .role = Role::measurement,
       .help = "seed of weights, order and augmentation", .max = 9007199254740991.0},
      {.name = "loss_every", .member = &Row::loss_every, .unit = "batches",
       .help = "batches between two readings of loss and accuracy by the host; each reading waits for the device "
               "(GPUs)", .min = 1, .max = 1000000, .acts_on = ActsOn::gpus_and_emulated},
      {.name = "needless", .member = &Row::needless,
       .help = "what a careless program adds to each step: copies (the batch to the host and back), synchronize (waits "
               "for the device after each phase), empty_cache (returns the allocator's free memory), host_copy (copies the "
               "loader's batch in host memory, as torch.tensor does and torch.as_tensor doesn't), host_tensor (makes random "
               "numbers of the batch's shape in host memory and copies them) or device_tensor (the same, made on the device)",
       .choices = {"none", "copies", "synchronize", "empty_cache", "host_copy", "host_tensor", "device_tensor"},
       .trains = false},
      {.name = "retain_graph", .member = &Row::retain_graph,
       .help = "sums the loss of the batches with its graph, as `total += loss` does: memory grows with every batch",
       .trains = false},
      {.name = "phase_clock", .member = &Row::phase_clock,
       .help = "measure phase times (off: only the whole window, to find the clock's cost)", .trains = false},
      {.name = "malloc", .member = &Row::malloc,
       .help = "allocator of the rank processes: system, retain (the same, keeps freed memory), or a library that is "
               "loaded in its place", .choices = {"retain", "system", "jemalloc", "tcmalloc"}, .trains = false},
      {.name = "jpeg_simd", .member = &Row::jpeg_simd,
       .help = "libjpeg-turbo decodes with vector instructions (off: JSIMD_FORCENONE=1)", .trains = false},
      {.name = "ceiling_batches", .member = &Row::ceiling_batches, .role = Role::measurement, .unit = "batches",
       .help = "batches after the slice for measuring loader alone and compute alone, 0: none", .max = 1000000},
      {.name = "host_work_ms", .member = &Row::host_work_ms, .unit = "ms",
       .help = "emulated work of the training thread per batch, in processor time", .max = 60000, .trains = false},
  };
  // clang-format on
  return table;
}

const Field* find_field(const std::string& name) {
  for (const Field& field : fields())
    if (name == field.name) return &field;
  return nullptr;
}

bool has_role(const std::string& field, Role role) {
  const Field* found = find_field(field);
  return found && found->role == role;
}

static nlohmann::json field_value(const Row& row, const Field& field) {
  return std::visit(
      [&](auto member) -> nlohmann::json {
        if constexpr (std::is_same_v<decltype(member), CountInC0>)
          return row.*(member.member);
        else
          return row.*member;
      },
      field.member);
}

static nlohmann::json field_value(const Row& row, const std::string& name) {
  const Field* field = find_field(name);
  if (!field) throw std::out_of_range(name + ": a row has no such field");
  return field_value(row, *field);
}

static std::string text_of(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string field_text(const Row& row, const Field& field) { return text_of(field_value(row, field)); }
std::string field_text(const Row& row, const std::string& field) { return text_of(field_value(row, field)); }

double field_number(const Row& row, const std::string& field) {
  const nlohmann::json value = field_value(row, field);
  return value.is_number() ? value.get<double>() : 0;
}

nlohmann::json to_json(const Row& row) {
  nlohmann::json object = nlohmann::json::object();
  for (const Field& field : fields()) object[field.name] = field_value(row, field);
  return object;
}

static void read_field(Row& row, const Field& field, const nlohmann::json& value) {
  std::visit(
      [&](auto member) {
        if constexpr (std::is_same_v<decltype(member), CountInC0>)
          row.*(member.member) = decode<int64_t>(value, field.name);
        else
          row.*member = decode<std::remove_cvref_t<decltype(row.*member)>>(value, field.name);
      },
      field.member);
}

nlohmann::json written_row(const void* row) { return to_json(*static_cast<const Row*>(row)); }

void read_row(void* row, const nlohmann::json& object) {
  if (!object.is_object()) throw Violation("", "an object", object);
  for (const auto& [key, value] : object.items()) {
    const Field* field = find_field(key);
    if (!field) throw Violation(key, "a field of a row", value);
    read_field(*static_cast<Row*>(row), *field, value);
  }
}

Row row_from_json(const nlohmann::json& object) { return decode<Row>(object, "row"); }

}  // namespace harness
