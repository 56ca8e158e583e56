// Packs into one Arrow IPC file (`images.arrow`, file format, also called Feather V2) with batches of 1000
// rows.
#ifdef HAVE_ARROW
#include <arrow/ipc/writer.h>

#include "bench/dataset/arrow_rows.h"

namespace bench {
namespace {

constexpr int64_t kRows = 1000;

void write_arrow(const Dataset& dataset, const std::filesystem::path& folder) {
  ArrowFile file(folder / "images.arrow");
  auto opened = arrow::ipc::MakeFileWriter(file.stream(), arrow_schema(dataset.classes));
  file.check(opened.status());
  const auto writer = *opened;
  const auto last = static_cast<int64_t>(dataset.images.size()) - 1;
  ArrowRows rows(dataset);
  for_each_image(dataset, "pack arrow", [&](const OpenImage& image) {
    if (rows.done()) rows.begin(image.record, last, kRows);
    rows.add(image);
    if (rows.done()) file.check(writer->WriteRecordBatch(*rows.finish()));
  });
  file.check(writer->Close());
  file.close();
}

const bool registered_dataset_pack_arrow =
    add_packer("arrow", "one Arrow IPC file in record order, batches of 1000 rows", 1, write_arrow);

}  // namespace
}  // namespace bench
#endif
