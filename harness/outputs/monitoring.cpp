// Gauges for Prometheus and OpenTelemetry.
#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "harness/outputs/outputs.h"

namespace harness {
namespace {

// Without this, a quotation mark or a newline in a row's id would end the label or the line.
std::string escaped(const std::string& text, bool quoted) {
  std::string result;
  for (char c : text)
    if (c == '\\' || (quoted && c == '"'))
      result += std::string("\\") + c;
    else if (c == '\n')
      result += "\\n";
    else
      result += c;
  return result;
}

std::string valid_utf8(const std::string& text) {
  return nlohmann::json::parse(
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

nlohmann::json attribute(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

}  // namespace

std::string prometheus_text(const RunResult& result) {
  std::string text;
  for (const Gauge& gauge : result.gauges) {
    text += fmt::format("# HELP {} {}\n# TYPE {} gauge\n", gauge.name, escaped(valid_utf8(gauge.help), false),
                        gauge.name);
    for (const Gauge::Sample& sample : gauge.samples) {
      std::string labels;
      for (const auto& [name, value] : sample.labels)
        labels +=
            fmt::format("{}{}=\"{}\"", labels.empty() ? "" : ",", name, escaped(valid_utf8(value), true));
      text +=
          fmt::format("{}{} {:.12g}\n", gauge.name, labels.empty() ? "" : "{" + labels + "}", sample.value);
    }
  }
  return text;
}

std::string otlp_json(const RunResult& result) {
  using nlohmann::json;
  const std::string now = std::to_string(std::time(nullptr)) + "000000000";
  json metrics = json::array();
  for (const Gauge& gauge : result.gauges) {
    json points = json::array();
    for (const Gauge::Sample& sample : gauge.samples) {
      json attributes = json::array();
      for (const auto& [name, value] : sample.labels) attributes.push_back(attribute(name, value));
      points.push_back({{"attributes", attributes}, {"timeUnixNano", now}, {"asDouble", sample.value}});
    }
    metrics.push_back({{"name", gauge.name},
                       {"description", gauge.help},
                       {"unit", gauge.unit},
                       {"gauge", {{"dataPoints", points}}}});
  }
  const json resource = {
      {"attributes", {attribute("service.name", "run_matrix"), attribute("host.name", result.host)}}};
  const json all = {{"resourceMetrics",
                     {{{"resource", resource},
                       {"scopeMetrics", {{{"scope", {{"name", "run_matrix"}}}, {"metrics", metrics}}}}}}}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace harness
