// Images within larger files of other tools. One table says how each kind is recognised and what can be done
// with it; the index and all messages about a folder use it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Class numbers of a data set's images, which either have numbers or names.
class Labels {
 public:
  std::vector<std::string> names;  // of the classes, by number; empty: only numbers are known
  int64_t first = 0;               // number that the files give to the first class
  explicit Labels(std::vector<std::string> known = {});
  // The number, or that of the name, counted from 0. They throw std::runtime_error with the reason if it is
  // not a class's, or if images before were labelled in the other way.
  int64_t numbered(int64_t label);
  int64_t named(const std::string& name);
  bool by_name() const { return by_ == By::name; }
  int64_t count() const { return names.empty() ? most_ + 1 : static_cast<int64_t>(names.size()); }

 private:
  enum class By { unknown, number, name } by_ = By::unknown;
  std::map<std::string, int64_t> number_of_;
  int64_t most_ = -1;
};

// name may be empty. The bytes are valid during the call; they lie within the container's if they are stored
// there as they are.
using TakeImage = std::function<void(const std::string& name, int64_t label, std::span<const uint8_t> image)>;

struct Container {
  std::filesystem::path file;
  std::span<const uint8_t> bytes;  // of the whole file
  Labels& labels;
  const TakeImage& take;
};

// Call take() for each image in stored order. They throw std::runtime_error with the reason: the file is
// damaged, encrypted, without images or labels, or this build lacks the library.
void visit_tar(const Container& container);       // visit_tar.cpp: also tars of tars
void visit_arrow(const Container& container);     // visit_arrow.cpp: IPC stream or file
void visit_parquet(const Container& container);   // visit_arrow.cpp
void visit_tfrecord(const Container& container);  // visit_tfrecord.cpp

struct ContainerKind {
  const char* name;
  std::vector<std::string_view> endings;
  void (*visit)(const Container&);  // null: can't be read
  const char* storage;              // that reads it in place, or a name for `kind` in records
  const char* next_step;            // where it can't be read in place; {} is the path
};

// The containers in a folder, or the one file.
struct Containers {
  const ContainerKind* kind = nullptr;  // null: there are none
  std::filesystem::path root;
  std::vector<std::string> train, validation, test;  // relative to root, sorted
};

// Looks into `place` and its folders data, train, val, validation and test. A file belongs to the part that a
// word of its path names (set-val-000000.tar), and to train if none does. Throws std::runtime_error if there
// are several kinds.
Containers containers_in(const std::filesystem::path& place);

// What a place holds that can't be used as it is, and the command that makes it usable, in one line; empty if
// nothing is recognised.
std::string what_to_do_with(const std::filesystem::path& place);

}  // namespace bench
