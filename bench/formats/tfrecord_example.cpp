// Uses protobuf's coded streams; generated classes would copy each image out of the record.
#ifdef HAVE_TFRECORD
#include "bench/formats/tfrecord_example.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace bench {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;
using Bytes = std::span<const uint8_t>;

// Field numbers. A map field is a repeated message of key and value.
constexpr int kExampleFeatures = 1;            // of Example
constexpr int kFeature = 1;                    // of Features: map<string, Feature>
constexpr int kKey = 1, kValue = 2;            // of an entry of a map
constexpr int kBytesList = 1, kInt64List = 3;  // of Feature
constexpr int kValues = 1;                     // of BytesList (repeated) and Int64List (packed)

// A tag is number << 3 | wire type (Protocol Buffers, "Encoding").
constexpr uint32_t kVarint = 0, k64Bits = 1, kLengthDelimited = 2, k32Bits = 5;

// Returns the bytes that write(stream) writes.
template <class Write>
std::string written(Write write) {
  std::string message;
  {
    StringOutputStream target(&message);
    CodedOutputStream stream(&target);
    write(stream);
  }
  return message;
}

std::string field(int number, std::string_view content) {
  return written([&](CodedOutputStream& stream) {
    stream.WriteTag(static_cast<uint32_t>(number) << 3 | kLengthDelimited);
    stream.WriteVarint32(static_cast<uint32_t>(content.size()));
    stream.WriteRaw(content.data(), static_cast<int>(content.size()));
  });
}

std::string varint(int64_t value) {
  return written([&](CodedOutputStream& stream) { stream.WriteVarint64(static_cast<uint64_t>(value)); });
}

std::string feature(std::string_view name, int kind, std::string_view values) {
  return field(kFeature, field(kKey, name) + field(kValue, field(kind, field(kValues, values))));
}

// Calls visit(number, content) for each length-delimited field, skips other fields. Returns false if
// malformed.
template <class Visit>
bool visit_fields(Bytes message, Visit visit) {
  CodedInputStream stream(message.data(), static_cast<int>(message.size()));
  while (const uint32_t tag = stream.ReadTag()) {
    const uint32_t type = tag & 7;
    if (type != kLengthDelimited) {
      uint64_t skipped = 0;
      if (type == kVarint   ? !stream.ReadVarint64(&skipped)
          : type == k64Bits ? !stream.Skip(8)
                            : type != k32Bits || !stream.Skip(4))
        return false;
      continue;
    }
    int length = 0;
    if (!stream.ReadVarintSizeAsInt(&length)) return false;
    const auto begin = static_cast<size_t>(stream.CurrentPosition());
    if (!stream.Skip(length)) return false;
    visit(static_cast<int>(tag >> 3), message.subspan(begin, static_cast<size_t>(length)));
  }
  return stream.ConsumedEntireMessage();
}

// The content of field `number`; of a repeated occurrence the last one, as in protobuf.
std::optional<Bytes> content_of(std::optional<Bytes> message, int number) {
  std::optional<Bytes> found;
  const bool whole = message && visit_fields(*message, [&](int found_number, Bytes content) {
                       if (found_number == number) found = content;
                     });
  return whole ? found : std::nullopt;
}

bool is(const std::optional<Bytes>& text, std::string_view expected) {
  return text && std::string_view(reinterpret_cast<const char*>(text->data()), text->size()) == expected;
}

std::optional<int64_t> first_varint(const std::optional<Bytes>& packed) {
  uint64_t value = 0;
  if (!packed || !CodedInputStream(packed->data(), static_cast<int>(packed->size())).ReadVarint64(&value))
    return std::nullopt;
  return static_cast<int64_t>(value);
}

}  // namespace

std::string serialized_example(std::string_view encoded, std::string_view filename, int64_t label) {
  return field(kExampleFeatures, feature("image/encoded", kBytesList, encoded) +
                                     feature("image/filename", kBytesList, filename) +
                                     feature("image/class/label", kInt64List, varint(label)));
}

std::optional<EncodedImage> image_of_example(Bytes example) {
  std::optional<Bytes> encoded;
  std::optional<int64_t> label;
  const auto features = content_of(example, kExampleFeatures);
  const bool whole = features && visit_fields(*features, [&](int number, Bytes entry) {
                       if (number != kFeature) return;
                       const auto name = content_of(entry, kKey), value = content_of(entry, kValue);
                       if (is(name, "image/encoded"))
                         encoded = content_of(content_of(value, kBytesList), kValues);
                       if (is(name, "image/class/label"))
                         label = first_varint(content_of(content_of(value, kInt64List), kValues));
                     });
  if (!whole || !encoded || !label) return std::nullopt;
  return EncodedImage{*encoded, *label};
}

}  // namespace bench
#endif
