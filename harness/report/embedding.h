// Embeds bytes and data in an HTML file so that no content can end the element that contains it.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace harness {

enum class Content { text, times };  // times: mostly digits with few repetitions

std::string base64(const std::string& bytes);
// Gzip as base64, for a browser's DecompressionStream("gzip"). Throws std::runtime_error above 4 GiB.
std::string gzip_base64(const std::string& bytes, Content content);

// For a <script type="application/json">. `<` is escaped, so that the text contains neither </script> nor a
// comment; bytes that are not UTF-8 are replaced.
std::string json_for_html(const nlohmann::json& data);

// Replaces each `{{NAME}}` by parts.at(NAME); `{{` inside a part is left alone. Throws std::runtime_error
// with the file's `name` for an unknown NAME.
std::string filled(const std::string& page_template, const std::map<std::string, std::string>& parts,
                   const std::string& name);

}  // namespace harness
