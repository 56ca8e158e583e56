// Packs into LMDB: key = record number as 8 bytes big-endian (key order = index order), value = 8 bytes
// label, image.
#include <fmt/format.h>
#include <lmdb.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "bench/dataset/pack.h"
#include "harness/base/file.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kLmdbPage = 4096;
constexpr int64_t kBatchBytes = 64 << 20;  // per transaction, to bound the memory of dirty pages

void check(int code, const fs::path& folder) {
  if (code == MDB_SUCCESS) return;
  if (code > 0) base::throw_write_error(folder, code);  // an errno: full disk, no permission
  throw std::runtime_error(fmt::format("LMDB could not write {}: {}; run the same `make_dataset pack` again",
                                       folder.string(), mdb_strerror(code)));
}

struct NewDatabase {
  MDB_env* env = nullptr;
  MDB_txn* transaction = nullptr;
  ~NewDatabase() {
    if (transaction) mdb_txn_abort(transaction);
    if (env) mdb_env_close(env);
  }
};

void write_database(const Dataset& dataset, const fs::path& folder) {
  NewDatabase lmdb;
  check(mdb_env_create(&lmdb.env), folder);
  check(mdb_env_set_mapsize(lmdb.env, static_cast<size_t>(packed_bytes(dataset) / kLmdbPage * kLmdbPage)),
        folder);
  // No flush per transaction: pack_into_folder() flushes the files once.
  check(mdb_env_open(lmdb.env, folder.c_str(), MDB_NOSYNC | MDB_NOMETASYNC | MDB_NOTLS, 0644), folder);
  MDB_dbi table = 0;
  int64_t pending = 0;
  for_each_image(dataset, "pack lmdb", [&](const OpenImage& image) {
    if (!lmdb.transaction) {
      check(mdb_txn_begin(lmdb.env, nullptr, 0, &lmdb.transaction), folder);
      check(mdb_dbi_open(lmdb.transaction, nullptr, 0, &table), folder);
    }
    const uint64_t number = __builtin_bswap64(static_cast<uint64_t>(image.record));
    MDB_val key{sizeof number, const_cast<uint64_t*>(&number)};
    MDB_val value{static_cast<size_t>(image.entry.bytes) + 8, nullptr};
    check(mdb_put(lmdb.transaction, table, &key, &value, MDB_RESERVE | MDB_APPEND), folder);
    std::memcpy(value.mv_data, &image.entry.label, 8);  // 8 bytes: keeps the image 8-byte aligned
    image.read_to(static_cast<char*>(value.mv_data) + 8);
    pending += image.entry.bytes;
    if (pending > kBatchBytes) {
      pending = 0;
      check(mdb_txn_commit(std::exchange(lmdb.transaction, nullptr)), folder);
    }
  });
  if (lmdb.transaction) check(mdb_txn_commit(std::exchange(lmdb.transaction, nullptr)), folder);
}

const bool registered_dataset_pack_lmdb =
    add_packer("lmdb", "one LMDB database in record order", 1, write_database);

}  // namespace
}  // namespace bench
