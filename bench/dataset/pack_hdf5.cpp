// Packs into one HDF5 file: the contiguous dataset `images` holds all files one after another; record i is
// images[offsets[i]:offsets[i + 1]] with labels[i]. Variable-length records would need HDF5's global heap.
#ifdef HAVE_HDF5
#include <fmt/format.h>

#include "bench/dataset/pack.h"
#include "bench/formats/hdf5_handle.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
constexpr size_t kPieceBytes = 8 << 20;  // per write

class Writer {
 public:
  Writer(const Dataset& dataset, const fs::path& file)
      : what_("cannot write " + file.string()),
        file_(H5Fcreate(file.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access().id()), H5Fclose, what_),
        images_(make("images", H5T_STD_U8LE, dataset.total_bytes())) {
    attribute("fingerprint", dataset.fingerprint);
  }

  void add(const OpenImage& image) {
    const auto bytes = static_cast<size_t>(image.entry.bytes);
    if (pending_.size() + bytes > kPieceBytes) flush();
    pending_.resize(pending_.size() + bytes);
    image.read_to(pending_.data() + pending_.size() - bytes);
  }

  void finish(const std::vector<int64_t>& offsets, const std::vector<int64_t>& labels) {
    flush();
    write_all("offsets", offsets);
    write_all("labels", labels);
    images_.close(what_);
    hdf5_checked(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), what_);
    file_.close(what_);
  }

 private:
  // File format 1.8 adds checksums to all metadata. The library's default is older structures without them;
  // if those are damaged, the library reads from invalid addresses.
  Hdf5Handle access() const {
    Hdf5Handle properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, what_);
    hdf5_checked(H5Pset_libver_bounds(properties.id(), H5F_LIBVER_V18, H5F_LIBVER_V18), what_);
    return properties;
  }

  Hdf5Handle make(const char* name, hid_t type, int64_t count) {
    const auto length = static_cast<hsize_t>(count);
    const Hdf5Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose, what_);
    const Hdf5Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, what_);
    hdf5_checked(H5Pset_layout(layout.id(), H5D_CONTIGUOUS), what_);
    hdf5_checked(H5Pset_fill_time(layout.id(), H5D_FILL_TIME_NEVER), what_);
    return {H5Dcreate2(file_.id(), name, type, space.id(), H5P_DEFAULT, layout.id(), H5P_DEFAULT), H5Dclose,
            what_};
  }

  void flush() {
    if (pending_.empty()) return;
    const hsize_t start = written_, count = pending_.size();
    const Hdf5Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose, what_);
    const Hdf5Handle file(H5Dget_space(images_.id()), H5Sclose, what_);
    hdf5_checked(H5Sselect_hyperslab(file.id(), H5S_SELECT_SET, &start, nullptr, &count, nullptr), what_);
    hdf5_checked(
        H5Dwrite(images_.id(), H5T_NATIVE_UINT8, memory.id(), file.id(), H5P_DEFAULT, pending_.data()),
        what_);
    written_ += count;
    pending_.clear();
  }

  void write_all(const char* name, const std::vector<int64_t>& values) {
    Hdf5Handle dataset = make(name, H5T_STD_I64LE, static_cast<int64_t>(values.size()));
    hdf5_checked(H5Dwrite(dataset.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
                 what_);
    dataset.close(what_);
  }

  void attribute(const char* name, const std::string& text) {
    const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose, what_);
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose, what_);
    hdf5_checked(H5Tset_size(type.id(), text.size() + 1), what_);
    const Hdf5Handle made(H5Acreate2(file_.id(), name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
                          H5Aclose, what_);
    hdf5_checked(H5Awrite(made.id(), type.id(), text.c_str()), what_);
  }

  std::string what_;
  Hdf5Handle file_, images_;
  std::vector<uint8_t> pending_;
  hsize_t written_ = 0;
};

void write_hdf5(const Dataset& dataset, const fs::path& folder) {
  silence_hdf5();
  Writer writer(dataset, folder / "images.h5");
  std::vector<int64_t> offsets{0}, labels;
  for_each_image(dataset, "pack hdf5", [&](const OpenImage& image) {
    writer.add(image);
    offsets.push_back(offsets.back() + image.entry.bytes);
    labels.push_back(image.entry.label);
  });
  writer.finish(offsets, labels);
}

const bool registered_dataset_pack_hdf5 =
    add_packer("hdf5", "one HDF5 file in record order", 1, write_hdf5) &&
    add_packer("hdf5_whole", "the same copy as hdf5", 1, write_hdf5, "hdf5");

}  // namespace
}  // namespace bench
#endif
