// What programs that watch runs read: a result in their formats, and the files that a request names.
#pragma once
#include <ostream>
#include <string>

#include "harness/config/request.h"
#include "harness/outputs/run_result.h"

namespace harness {

// JUnit XML as Jenkins' xunit plugin publishes its schema (junit-10.xsd): a suite for each of rows, checks,
// claims and nights.
std::string junit_xml(const RunResult& result);

// Prometheus' text format, without times of samples, which node_exporter's textfile collector refuses.
std::string prometheus_text(const RunResult& result);

// One ExportMetricsServiceRequest of OpenTelemetry (OTLP/JSON), in one line: what a collector takes at
// /v1/metrics or reads with its receiver `otlpjsonfile`.
std::string otlp_json(const RunResult& result);

// Workflow commands that GitHub shows beside a run: one error for each case that failed or had an error.
std::string github_annotations(const RunResult& result);
// Markdown for GITHUB_STEP_SUMMARY, at most 1 MiB, which is GitHub's limit.
std::string github_summary(const RunResult& result);

bool asks_for_outputs(const Request& request);

// Throws PreparationError before a run if an output could not be written after it.
void check_outputs(const Request& request);

// Replaces each file that the request names. `--github`: annotations to `console`, the summary to the file in
// GITHUB_STEP_SUMMARY, and the run's folder as output `run` of the step. Throws std::runtime_error if a write
// fails.
void write_outputs(const Request& request, const RunResult& result, std::ostream& console);

}  // namespace harness
