// Bytes and data put into an HTML file so that whatever they hold, they end nothing there.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace harness {

enum class Content { text, times };  // times: mostly digits, in which hardly anything repeats

std::string base64(const std::string& bytes);
// What a browser's DecompressionStream("gzip") unpacks, as text. Throws std::runtime_error without memory.
std::string gzip_base64(const std::string& bytes, Content content);

// For a <script type="application/json">: `<` escaped, so that no </script> and no comment begins within;
// bytes that are no UTF-8 replaced.
std::string json_for_html(const nlohmann::json& data);

// Puts parts.at(NAME) where `{{NAME}}` stands; what is put in is not looked at again. Throws
// std::runtime_error with `name` of the file when it asks for a part that there isn't.
std::string filled(const std::string& page_template, const std::map<std::string, std::string>& parts,
                   const std::string& name);

}  // namespace harness
