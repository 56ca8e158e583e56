// The field table: a new field needs one member in row.h and one entry here.
#include "harness/contract/row.h"

#include <stdexcept>

#include "harness/contract/answer_figures.h"
#include "harness/contract/loader_command.h"
#include "harness/contract/published_ms.h"

namespace harness {

const std::vector<Field>& fields() {
  using Self = Row;  // for KEY
  // clang-format off
  static const std::vector<Field> table = {
      {KEY(id, "name of the row, as used in --only"), {.role = Role::descriptive}},
      {KEY(title, "what the row is, in a few words"), {.role = Role::descriptive}},
      {KEY(base, "id of the row that this one is compared with"), {.role = Role::descriptive}},
      {KEY(identity, "how sure it is that the article ran this very row; own: it did not, and its claims "
           "are left out"),
       {.role = Role::descriptive, .choices = {"stated", "inferred", "weakly inferred", "control", "own"}}},
      {KEY(inferred, "fields of this row that the article does not state, comma separated"),
       {.role = Role::descriptive}},
      {KEY(published_s, "seconds per 300 batches that the article states, 0: no figure"),
       {.role = Role::descriptive, .unit = "s", .max = 1e9}},
      {KEY(published_ms, "ms of one batch that the article states: `h2d=13.6 forward=67.3 "
           "forward_launch=15.4`"),
       {.role = Role::descriptive, .unit = "ms", .problem = published_ms_problem}},
      {KEY(published_note, "remark of the article about the row or its figure"), {.role = Role::descriptive}},
      {KEY(question, "what the comparison with the base answers"), {.role = Role::descriptive}},
      {KEY(answer, "figures that answer it, comma separated: loading, transfer, processing, ..."),
       {.role = Role::descriptive, .problem = answer_figures_problem}},
      {KEY(skip, "why the row is left out: it is listed as SKIPPED with this reason"),
       {.role = Role::descriptive}},
      {KEY(window, "batches that the article timed: from the first, or the middle 300 of 500"),
       {.role = Role::sizing, .choices = {"0-299", "100-399"}, .trains = false}},
      {KEY(engine, "program that trains: libtorch: train_slice of this suite; pytorch: the same step in "
           "Python's PyTorch (bench/twin), with cuda_graphs as a torch.cuda.graph; pytorch_compiled: that "
           "with torch.compile(mode=max-autotune)"),
       {.choices = {"libtorch", "pytorch", "pytorch_compiled"}}},
      {KEY(device, "device that computes"), {.axis = "device"}},
      {KEY(device_file, "device emulated: configs/devices/NAME.yaml, which says how long its kernels and "
           "copies take"), {.trains = false}},
      {KEY(time_scale, "device emulated: every duration of the device file is multiplied by this"),
       {.role = Role::sizing, .min = 1e-6, .max = 1e6, .trains = false}},
      {KEY(core_images_per_s, "device emulated: what one of the row's `cpus` decodes, divided by "
           "time_scale; 0: what this machine's do"),
       {.unit = "images/s", .max = 1e6, .least = 1e-3, .trains = false}},
      {KEY(wire, "device emulated, several nodes: the bytes of NCCL's ring or of its tree cross the link"),
       {.choices = {"ring", "tree"}, .trains = false}},
      {KEY(wire_divisor, "device emulated, several nodes: bytes and rate of the link are divided by this"),
       {.role = Role::sizing, .min = 1, .max = 65536, .trains = false}},
      {KEY(nodes, "machines"), {.min = 1, .max = 1024}},
      {KEY(devices, "devices per node"), {.min = 1, .max = 1024}},
      {KEY(strategy, "how several devices are used"), {.axis = "strategy"}},
      {KEY(backend, "library of collectives for strategies with several processes"), {.axis = "backend"}},
      {KEY(link, "network between the nodes"), {.axis = "link"}},
      {KEY(link_rate_mbit, "rate of an emulated link, 0: unshaped"),
       {.unit = "Mbit/s", .max = 1e6, .least = 1e-3, .trains = false}},
      {KEY(precision, "number formats of weights, activations and optimizer"), {.axis = "precision"}},
      {KEY(sync_bn, "batch-norm statistics over all ranks")},
      {KEY(loader, "what makes the batches: suite: this suite's loader; external: the Python program in "
           "`command`; external_alone: likewise, and its batches are dropped there instead of handed over, "
           "to find that step's cost"),
       {.choices = {"suite", "external", "external_alone"}, .trains = false}},
      {KEY(command, "of an external loader: a Python, an adapter (a file NAME.py with a function `batches`) "
           "and its arguments; no shell reads it, and words with spaces stand in quotes; `python` is the "
           "one that PYTHON names"), {.problem = loader_command_problem, .trains = false}},
      {KEY(compare_pixels, "an external loader must make the pixels that this suite makes of the same crops "
           "(off: crops of its own)"), {.trains = false}},
      {KEY(storage, "where encoded images come from"), {.axis = "storage"}},
      {KEY(order, "order of records within an epoch"), {.choices = {"shuffled", "in_order", "windowed"}}},
      {KEY(interleave, "order windowed: shards that are read in turn"), {.min = 1, .max = 1024}},
      {KEY(shuffle_window, "order windowed: records in the shuffle buffer"), {.min = 1, .max = 1e9}},
      {KEY(cache, "page cache before the slice: dropped, filled, or left as it is"),
       {.choices = {"cold", "warm", "as_is"}, .trains = false}},
      {KEY(readahead, "let the kernel read ahead in files and mapped databases"), {.trains = false}},
      {KEY(read_rate, "emulated limit of storage reads per node, 0: none"),
       {.unit = "bytes/s", .max = 1e12, .least = 1, .trains = false}},
      {KEY(read_latency_ms, "emulated delay of each record read"),
       {.unit = "ms", .max = 60000, .trains = false}},
      {KEY(store_rate_mbit, "rate of the emulated link to an object store, 0: unshaped"),
       {.unit = "Mbit/s", .max = 1e6, .least = 1e-3, .trains = false}},
      {KEY(store_latency_ms, "round-trip latency of the emulated link to an object store"),
       {.unit = "ms", .max = 10000, .trains = false}},
      {KEY(cpus, "cores that all processes of a node may use"), {.min = 1, .max = 65536, .in_c0 = true}},
      {KEY(loader_threads, "loader threads per node, 0: load in the training thread"),
       {.max = 512, .in_c0 = true}},
      {KEY(ring_depth, "handing_over ring: batches that the loader may hold ready, per rank"),
       {.unit = "batches", .min = 1, .max = 1024}},
      {KEY(handing_over, "how loader threads make batches: ring: all threads work on the same batch, up to "
           "ring_depth batches ahead; dataloader: one thread makes a whole batch and two batches per thread "
           "are loaded ahead, as PyTorch's DataLoader does"),
       {.choices = {"ring", "dataloader"}, .trains = false}},
      {KEY(pin_loader_threads, "each loader thread stays on one core"), {.trains = false}},
      {KEY(batch_format, "format of the loader's batches: normalised float32 as NCHW or as NHWC "
           "(channels_last), or uint8 NHWC that the device normalises"),
       {.choices = {"float32", "channels_last", "uint8"}}},
      {KEY(intra_op_threads, "compute threads of one CPU device"), {.min = 1, .max = 1024, .in_c0 = true}},
      {KEY(pinned, "host batches are in pinned memory (GPUs); an external loader's never are"),
       {.acts_on = ActsOn::gpus_and_emulated}},
      {KEY(pin_thread, "batches are made in ordinary memory and one thread copies them into pinned memory, "
           "as PyTorch's DataLoader does with pin_memory (off: made in pinned memory; GPUs)"),
       {.acts_on = ActsOn::gpus}},
      {KEY(non_blocking, "the host doesn't wait for the copy of a batch to end (GPUs)"),
       {.acts_on = ActsOn::gpus_and_emulated}},
      {KEY(synchronize_copies, "after each batch's copy the host waits for the device "
           "(torch.cuda.synchronize), so that phase h2d has all of the copy (GPUs)"),
       {.acts_on = ActsOn::gpus_and_emulated}},
      {KEY(cudnn_benchmark, "cuDNN tries its algorithms in warm-up and keeps the fastest (GPUs)"),
       {.acts_on = ActsOn::gpus}},
      {KEY(tf32, "float32 convolutions may multiply in TF32, PyTorch's default (GPUs)"),
       {.acts_on = ActsOn::gpus}},
      {KEY(channels_last, "weights and activations as NHWC in memory")},
      {KEY(prefetch, "batches are copied in a separate stream during the previous step; off: in the compute "
           "stream, as PyTorch's .to() does (GPUs)"), {.acts_on = ActsOn::gpus_and_emulated}},
      {KEY(cuda_graphs, "forward, loss, backward and optimizer are recorded as CUDA graphs once and "
           "replayed (GPUs)"), {.acts_on = ActsOn::gpus}},
      {KEY(fused_batch_norm, "batch norm, the block's addition and ReLU as one operation, forward and "
           "backward, with kernels of this project (off: LibTorch's operations one after another) (GPUs)"),
       {.acts_on = ActsOn::gpus}},
      {KEY(byte_pool_indices, "max-pool remembers the places of its maxima in 8 bits, with a kernel of this "
           "project (off: in 64 bits) (GPUs)"), {.acts_on = ActsOn::gpus}},
      {KEY(decoder, "decoder of JPEG files: cpu in the loader's threads; nvjpeg on the GPU, called by them "
           "for each file; nvjpeg_batched: called once for a batch"),
       {.choices = {"cpu", "nvjpeg", "nvjpeg_batched"}, .acts_on = ActsOn::gpus}},
      {KEY(gpu_sampling_ms, "time between two readings of the GPU's load, clock, power and temperature "
           "during the slice, 0: none, and neither energy nor counters"),
       {.role = Role::measurement, .unit = "ms", .max = 60000, .acts_on = ActsOn::gpus}},
      {KEY(model, "network"), {.role = Role::sizing, .axis = "model"}},
      {KEY(dropout, "share of activations that training drops: before a ResNet's classifier, in a "
           "transformer after its sums"), {.role = Role::sizing, .max = 0.99}},
      {KEY(width, "channels after the first convolution (article: 64)"),
       {.role = Role::sizing, .min = 1, .max = 4096}},
      {KEY(image_px, "side of the training crop (article: 224)"),
       {.role = Role::sizing, .unit = "px", .min = 32, .max = 1024}},
      {KEY(classes, "outputs of the classifier"), {.role = Role::sizing, .min = 2, .max = 1000000}},
      {KEY(batch, "images per batch over all devices; in a config at the article's scale"),
       {.role = Role::sizing, .unit = "images", .min = 1, .max = 1 << 20}},
      {KEY(accumulation, "micro-batches of which each batch consists: forward and backward run on one after "
           "another, the optimizer once"), {.min = 1, .max = 65536}},
      {KEY(sync_every_micro_batch, "with accumulation, ranks all-reduce their gradients after each "
           "micro-batch (off: after the last, as in PyTorch's no_sync)")},
      {KEY(pipeline_micro_batches, "strategy split_model: parts of a batch that pass through the two stages "
           "one after another, so that both stages are busy; 1: one stage waits for the other"),
       {.min = 1, .max = 65536}},
      {KEY(optimizer, "what updates the weights"), {.axis = "optimizer"}},
      {KEY(learning_rate, "learning rate"), {.max = 1e6}},
      {KEY(learning_rate_schedule, "learning rate over the batches of warm-up and window: constant; step: a "
           "tenth after each third, as in PyTorch's ImageNet example; cosine: down to 0 along half a cosine"),
       {.choices = {"constant", "step", "cosine"}, .trains = false}},
      {KEY(learning_rate_warmup, "first batches, in which the learning rate rises linearly from a "
           "hundredth; the schedule begins after them"),
       {.unit = "batches", .max = 1000000, .trains = false}},
      {KEY(momentum, "momentum of SGD"), {.max = 1, .trains = false}},
      {KEY(weight_decay, "weight decay"), {.max = 1}},
      {KEY(fused_sgd, "the optimizer (SGD, Adam) in one pass over the weights (off: one operation at a "
           "time)")},
      {KEY(bucket_mib, "gradient bucket of DDP"), {.unit = "MiB", .min = 0.001, .max = 1e6}},
      {KEY(first_bucket_mib, "first gradient bucket of DDP"), {.unit = "MiB", .min = 0.001, .max = 1e6}},
      {KEY(broadcast_buffers, "DDP sends batch-norm statistics from rank 0 before each forward")},
      {KEY(gradient_as_bucket_view, "DDP's gradients are views into its buckets instead of being copied "
           "there and back")},
      {KEY(static_buckets, "DDP keeps its buckets in the order of the parameters (off: rebuilds them in the "
           "order of the gradients)")},
      {KEY(compression, "16-bit type in which DDP sends its buckets"), {.choices = {"none", "bf16", "fp16"}}},
      {KEY(message_size, "size at which APEX closes a bucket"), {.unit = "elements", .min = 1, .max = 1e12}},
      {KEY(delay_allreduce, "APEX reduces all gradients after backward, not during it")},
      {KEY(fusion_mib, "Horovod's fusion buffer"), {.unit = "MiB", .min = 0.001, .max = 1e6}},
      {KEY(cycle_ms, "time between two negotiations of Horovod"), {.unit = "ms", .max = 60000}},
      {KEY(collectives, "off: during the slice collectives return at once with each rank's own values, "
           "which is no training (for `explain`)"), {.trains = false}},
      {KEY(part, "part of the work that is done: all; loading: batches are taken from the loader and "
           "released, and nothing is trained; reading: likewise, and images are read but not decoded"),
       {.choices = {"all", "loading", "reading"}}},
      {KEY(validation, "classify the images of val/ after the slice; `classes` is then the data set's, and "
           "each repeat has a different seed"), {.trains = false}},
      {KEY(warmup_batches, "untimed batches before the window"),
       {.role = Role::derived, .unit = "batches", .max = 1000000}},
      {KEY(timed_batches, "timed batches"),
       {.role = Role::sizing, .unit = "batches", .min = 1, .max = 1000000}},
      {KEY(seed, "seed of weights, order and augmentation"),
       {.role = Role::measurement, .max = 9007199254740991.0}},
      {KEY(loss_every, "batches between two readings of loss and accuracy by the host; each reading waits "
           "for the device (GPUs)"),
       {.unit = "batches", .min = 1, .max = 1000000, .acts_on = ActsOn::gpus_and_emulated}},
      {KEY(needless, "what a careless program adds to each step: copies (the batch to the host and back), "
           "synchronize (waits for the device after each phase), empty_cache (returns the allocator's free "
           "memory), host_copy (copies the loader's batch in host memory, as torch.tensor does and "
           "torch.as_tensor doesn't), host_tensor (makes random numbers of the batch's shape in host memory "
           "and copies them) or device_tensor (the same, made on the device)"),
       {.choices = {"none", "copies", "synchronize", "empty_cache", "host_copy", "host_tensor",
                    "device_tensor"}, .trains = false}},
      {KEY(retain_graph, "sums the loss of the batches with its graph, as `total += loss` does: memory "
           "grows with every batch"), {.trains = false}},
      {KEY(phase_clock, "measure phase times (off: only the whole window, to find the clock's cost)"),
       {.trains = false}},
      {KEY(malloc, "allocator of the rank processes: system, retain (the same, keeps freed memory), or a "
           "library that is loaded in its place"),
       {.choices = {"retain", "system", "jemalloc", "tcmalloc"}, .trains = false}},
      {KEY(jpeg_simd, "libjpeg-turbo decodes with vector instructions (off: JSIMD_FORCENONE=1)"),
       {.trains = false}},
      {KEY(ceiling_batches, "batches after the slice for measuring loader alone and compute alone, 0: none"),
       {.role = Role::measurement, .unit = "batches", .max = 1000000}},
      {KEY(host_work_ms, "emulated work of the training thread per batch, in processor time"),
       {.unit = "ms", .max = 60000, .trains = false}},
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
  return write_value(*field.type, field.in(&row));
}

static const Field& field_of(const std::string& name) {
  const Field* field = find_field(name);
  if (!field) throw std::out_of_range(name + ": a row has no such field");
  return *field;
}

std::string field_text(const Row& row, const Field& field) {
  const nlohmann::json value = field_value(row, field);
  return value.is_string() ? value.get<std::string>() : value.dump();
}
std::string field_text(const Row& row, const std::string& field) { return field_text(row, field_of(field)); }

double field_number(const Row& row, const std::string& field) {
  const nlohmann::json value = field_value(row, field_of(field));
  return value.is_number() ? value.get<double>() : 0;
}

nlohmann::json to_json(const Row& row) {
  nlohmann::json object = nlohmann::json::object();
  for (const Field& field : fields()) object[field.name] = field_value(row, field);
  return object;
}

nlohmann::json written_row(const void* row) { return to_json(*static_cast<const Row*>(row)); }

void read_row(void* row, const nlohmann::json& object) {
  if (!object.is_object()) throw Violation("", "an object", object);
  for (const auto& [key, value] : object.items()) {
    const Field* field = find_field(key);
    if (!field) throw Violation(key, "a field of a row", value);
    read_value(*field->type, field->in(row), value, key);
  }
}

}  // namespace harness
