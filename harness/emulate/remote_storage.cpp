// Starts server, link and mount in order, checks that they still run, and describes them for the record.
#include "harness/emulate/remote_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/base/machine.h"
#include "harness/config/emulated_nodes.h"
#include "harness/contract/dataset.h"

namespace harness {

namespace fs = std::filesystem;

std::string why_no_remote_storage(const Row& row, const std::string& service, const std::string& launcher) {
  if (launcher != "local" || row.nodes > 1)
    return "the object store only serves ranks on this machine: storage " + row.storage +
           " needs one node and the launcher local";
  if (const std::string why = why_no_object_store(); !why.empty()) return why;
  if (service != "http" && !why_no_mount().empty()) return why_no_mount();
  if (row.store_latency_ms > 0) return why_no_latency();
  return shapes_store(row) ? why_no_two_nodes() : "";
}

std::string describe_store_link(const Row& row) {
  std::string text = "object store: nginx on this machine, over ";
  if (!shapes_store(row)) return text + "the loopback interface";
  text += row.store_rate_mbit > 0 ? fmt::format("veth at {:g} Mbit/s", row.store_rate_mbit) : "veth";
  if (row.store_latency_ms > 0) text += fmt::format(" and {:g} ms there and back", row.store_latency_ms);
  return text;
}

static IndexHeader header_of(const fs::path& index) try {
  std::ifstream stream = base::open_regular(index);
  std::string line;
  std::getline(stream, line);
  return index_header(line);
} catch (const Violation& violation) {
  throw std::runtime_error(fmt::format("{} is not an index of a data set ({}); remove it and run again",
                                       index.string(), violation.what()));
}

// Contains the host name, because several machines may share the disk.
static std::string cache_prefix() { return fmt::format("remote-cache-{}-", base::host_name()); }

RemoteStorage::RemoteStorage(const Row& row, const std::string& service, const Folders& folders) : row_(row) {
  const IndexHeader header = header_of(folders.index);
  if (shapes_store(row)) nodes_.emplace(row.store_rate_mbit, row.store_latency_ms);
  server_.emplace(fs::path(header.root), folders.scratch / "object_store", folders.logs / "object_store.log",
                  nodes());
  if (service == "http") return;
  if (service == "mount_cached") {
    cache_.emplace(folders.store, cache_prefix());
    // Enough for the whole data set, but at most half of the free space.
    const int64_t wanted = header.bytes / 10 * 11 + (int64_t{64} << 20);
    const int64_t free = int64_t(std::min<uintmax_t>(fs::space(folders.store).available, INT64_MAX));
    limits_ = {cache_->path(), std::min(wanted, free / 2)};
  }
  mount_.emplace(server_->url(), folders.scratch / "mount", folders.logs / "mount.log", limits_, nodes());
}

std::string RemoteStorage::location() const { return mount_ ? mount_->path().string() : server_->url(); }

std::string RemoteStorage::why_ended() {
  const std::string ended = server_->service().why_ended();
  return ended.empty() && mount_ ? mount_->service().why_ended() : ended;
}

// Bytes that the ranks' node received over the link.
static std::optional<int64_t> received_bytes(const TwoNodes& nodes) try {
  base::Command command;
  command.arguments = nodes.enter(0);
  command.arguments.insert(command.arguments.end(),
                           {"ip", "-json", "-stats", "link", "show", "dev", emulated::kInterface});
  const auto links = base::parse_json(base::run_to_end(command).output);
  return links.at(0).at("stats64").at("rx").at("bytes").get<int64_t>();
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

RecordObjectStore RemoteStorage::describe() const {
  RecordObjectStore store;
  store.server = object_store_version();
  store.url = server_->url();
  store.link = nodes_ ? "veth" : "loopback";
  store.rate_mbit = row_.store_rate_mbit;
  store.latency_ms = row_.store_latency_ms;
  if (nodes_) store.received_bytes = received_bytes(*nodes_);
  if (mount_) store.mount = mount_version();
  if (cache_) {
    store.cache_limit_bytes = limits_.bytes;
    store.cache_bytes = base::bytes_below(limits_.folder / "vfs");
  }
  return store;
}

}  // namespace harness
