// RAII handles for HDF5 objects; HDF5 errors as exceptions.
#pragma once
#include <hdf5.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace bench {

// The innermost message of the call that failed last.
inline std::string hdf5_error() {
  std::string text;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* target) -> herr_t {
        *static_cast<std::string*>(target) = error->desc ? error->desc : "";
        return 1;
      },
      &text);
  return text.empty() ? "unknown error" : text;
}

// Returns `result`, or throws std::runtime_error("WHAT: message of the library") if it is negative (an
// error).
template <class Result>
Result hdf5_checked(Result result, const std::string& what) {
  if (result < 0) throw std::runtime_error(what + ": " + hdf5_error());
  return result;
}

// Disables the library's error output to stderr for the calling thread. Never restored, because the library
// also prints errors at exit.
inline void silence_hdf5() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

class Hdf5Handle {
 public:
  // Throws as hdf5_checked() if `id` is negative.
  Hdf5Handle(hid_t id, herr_t (*close)(hid_t), const std::string& what)
      : id_(hdf5_checked(id, what)), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  hid_t id() const { return id_; }
  // Closes explicitly and throws on failure; for objects that write when they are closed.
  void close(const std::string& what) { hdf5_checked(close_(std::exchange(id_, -1)), what); }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

}  // namespace bench
