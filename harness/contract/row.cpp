// The fields of a row as a table, and a row as JSON.
#include "harness/contract/row.h"

#include <stdexcept>

#include "harness/contract/answer_figures.h"
#include "harness/contract/loader_command.h"
#include "harness/contract/published_ms.h"

namespace harness {

const std::vector<Field>& fields() {
  using Self = Row;  // for KEY
  static const std::vector<Field> table = {
#define FIELD(type, name, usual, meaning, ...) {KEY(name, meaning), {__VA_ARGS__}},
#include "harness/contract/row_fields.inc"
#undef FIELD
  };
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
