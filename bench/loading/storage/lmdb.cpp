// One LMDB database of all images, decoded in place from mapped pages.
#include <fmt/format.h>
#include <lmdb.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "bench/formats/mapped_file.h"
#include "bench/loading/storage/storage.h"
#include "harness/base/file.h"

namespace bench {
namespace {

constexpr size_t kLabelBytes = 8;  // little-endian int64 before the image

class Lmdb : public DatasetStorage, PackedCopy {
 public:
  explicit Lmdb(const StorageOptions& options)
      : DatasetStorage("lmdb", options.dataset),
        PackedCopy("lmdb", options,
                   fmt::format("the LMDB database {}", (options.location / "data.mdb").string())) {
    if (location_.empty() || !std::filesystem::exists(file())) fail("not found");
    // The library opens the file by name and would block forever on a named pipe.
    if (const base::RegularFile opened = base::RegularFile::open(file().c_str()); !opened.is_open())
      fail("can't be opened: " + opened.why);
    check(mdb_env_create(&environment_.handle), "mdb_env_create");
    // No lock file and no reader table, because there are no writers. Transactions are not bound to threads.
    unsigned flags = MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS;
    if (!options.readahead) flags |= MDB_NORDAHEAD;
    check(mdb_env_open(environment_.handle, location_.c_str(), flags, 0444), "can't be opened");
    check_completeness();
    mapping_ = mapping_of(file());
    mapping_ = mapping_.first(std::min<size_t>(mapping_.size(), std::filesystem::file_size(file())));
  }

  std::unique_ptr<StorageReader> reader() override { return std::make_unique<Reader>(*this); }
  void release_mapped_pages() const override { release_pages(mapping_); }
  std::vector<std::filesystem::path> cached_files(const std::vector<int64_t>&) const override {
    return {file()};
  }

 private:
  struct Environment {
    MDB_env* handle = nullptr;
    ~Environment() {
      if (handle) mdb_env_close(handle);
    }
  };

  // Holds a transaction for its whole lifetime, which is harmless in a read-only database.
  class Reader : public StorageReader {
   public:
    explicit Reader(const Lmdb& lmdb) : lmdb_(lmdb) {
      lmdb.check(mdb_txn_begin(lmdb.environment_.handle, nullptr, MDB_RDONLY, &transaction_),
                 "can't be read");
      const int code = mdb_dbi_open(transaction_, nullptr, 0, &table_);
      if (code != MDB_SUCCESS) mdb_txn_abort(transaction_);
      lmdb.check(code, "can't be read");
    }
    ~Reader() override { mdb_txn_abort(transaction_); }

    EncodedImage read(int64_t record) override {
      const uint64_t big_endian = __builtin_bswap64(static_cast<uint64_t>(record));
      MDB_val key{sizeof big_endian, const_cast<uint64_t*>(&big_endian)}, value{};
      const int code = mdb_get(transaction_, table_, &key, &value);
      if (code != MDB_SUCCESS) {
        // After a damaged page a transaction refuses every other record, too.
        mdb_txn_reset(transaction_);
        lmdb_.check(mdb_txn_renew(transaction_), "can't be read");
      }
      if (code != MDB_SUCCESS || value.mv_size < kLabelBytes)
        throw std::runtime_error(fmt::format("record {} of {}: {}", record, lmdb_.file().string(),
                                             code ? mdb_strerror(code) : "too short to hold a label"));
      EncodedImage image;
      const auto* bytes = static_cast<const uint8_t*>(value.mv_data);
      const auto& file = lmdb_.mapping_;  // the library trusts the sizes in its pages
      if (bytes < file.data() || bytes > file.data() + file.size() ||
          value.mv_size > static_cast<size_t>(file.data() + file.size() - bytes))
        throw std::runtime_error(fmt::format("record {} of {}: it extends beyond the end of the file", record,
                                             lmdb_.file().string()));
      std::memcpy(&image.label, bytes, kLabelBytes);
      image.bytes = {bytes + kLabelBytes, value.mv_size - kLabelBytes};
      touch_pages(image.bytes);
      return image;
    }

   private:
    const Lmdb& lmdb_;
    MDB_txn* transaction_ = nullptr;
    MDB_dbi table_ = 0;
  };

  std::filesystem::path file() const { return location_ / "data.mdb"; }

  void check(int code, const char* what) const {
    if (code != MDB_SUCCESS) fail(fmt::format("{}: {}", what, mdb_strerror(code)));
  }

  // Reading a page beyond the end of a truncated file would kill the process with SIGBUS.
  void check_completeness() const {
    MDB_envinfo info{};
    MDB_stat facts{};
    check(mdb_env_info(environment_.handle, &info), "can't be read");
    check(mdb_env_stat(environment_.handle, &facts), "can't be read");
    const uint64_t needed = (static_cast<uint64_t>(info.me_last_pgno) + 1) * facts.ms_psize;
    if (std::filesystem::file_size(file()) < needed) fail("is cut off");
    require(static_cast<int64_t>(facts.ms_entries));
  }

  Environment environment_;
  std::span<const uint8_t> mapping_;  // of the whole file, as long as the environment is open
};

[[maybe_unused]] const bool registered_storage_lmdb = StorageRegistry::instance().add(
    {"storage",
     "lmdb",
     "one LMDB database (key = record number), decoded in place from mapped pages",
     {.packed = true}},
    [](const StorageOptions& options) { return std::make_unique<Lmdb>(options); });

}  // namespace
}  // namespace bench
