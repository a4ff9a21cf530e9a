// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/json.h"

#include <fmt/format.h>

#include <cmath>

#include "harness/report/json_reading.h"

namespace kvr {
namespace {

using namespace json_reading;

// Invalid UTF-8 (a kernel's message may hold anything) is replaced, never an error.
std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json from_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}
Json from_hex(std::uint64_t value) {
  return fmt::format("{:#018x}", value);
}
Json from_code(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}
Json from_ulp(std::int64_t ulp) {
  if (ulp == kNanDistance) return "nan";
  return ulp;
}

Json write(const Element& e) {
  return {{"index", e.index},
          {"row", e.row},
          {"column", e.column},
          {"code", from_code(e.code)},
          {"expected_code", from_code(e.expected_code)},
          {"actual", from_double(e.actual)},
          {"expected", from_double(e.expected)},
          {"error", from_double(e.error)},
          {"allowed", from_double(e.allowed)},
          {"ulp", from_ulp(e.ulp)},
          {"mismatch", mismatch_name(e.mismatch)}};
}

Element read_element(const Json& json) {
  Element e;
  e.index = integer_at(json, "index");
  e.row = integer_at(json, "row");
  e.column = integer_at(json, "column");
  e.code = u64_at(json, "code");
  e.expected_code = u64_at(json, "expected_code");
  e.actual = double_at(json, "actual");
  e.expected = double_at(json, "expected");
  e.error = double_at(json, "error");
  e.allowed = double_at(json, "allowed");
  e.ulp = ulp_at(json, "ulp");
  const std::string name = text_at(json, "mismatch");
  for (const Mismatch mismatch : {Mismatch::none, Mismatch::unexpected_nan, Mismatch::missing_nan,
                                  Mismatch::wrong_infinity, Mismatch::tolerance})
    if (mismatch_name(mismatch) == name) return e.mismatch = mismatch, e;
  throw JsonError(fmt::format("'mismatch' is '{}', which is unknown", name));
}

// Every member that is a plain count or a plain double, so that writing and reading cannot drift apart.
struct CountMember {
  const char* key;
  std::int64_t Comparison::*member;
};
constexpr CountMember kCounts[] = {
    {"numel", &Comparison::numel},
    {"failing", &Comparison::failing},
    {"excused", &Comparison::excused},
    {"outlier_limit", &Comparison::outlier_limit},
    {"differing", &Comparison::differing},
    {"worst_row_l2_row", &Comparison::worst_row_l2_row},
    {"worst_row_failing", &Comparison::worst_row_failing},
    {"worst_row", &Comparison::worst_row},
    {"failing_rows", &Comparison::failing_rows},
    {"nan_actual", &Comparison::nan_actual},
    {"nan_expected", &Comparison::nan_expected},
    {"inf_actual", &Comparison::inf_actual},
    {"inf_expected", &Comparison::inf_expected},
};
struct DoubleMember {
  const char* key;
  double Comparison::*member;
};
constexpr DoubleMember kDoubles[] = {
    {"worst_ratio", &Comparison::worst_ratio},         {"max_abs_error", &Comparison::max_abs_error},
    {"max_rel_error", &Comparison::max_rel_error},     {"max_abs_expected", &Comparison::max_abs_expected},
    {"mean_signed_ulp", &Comparison::mean_signed_ulp}, {"worst_row_l2", &Comparison::worst_row_l2},
};

Json write(const Comparison& c) {
  Json json{{"accepted", c.accepted}, {"reason", c.reason}};
  for (const auto& [key, member] : kCounts) json[key] = c.*member;
  for (const auto& [key, member] : kDoubles) json[key] = from_double(c.*member);
  json["worst"] = write(c.worst);
  json["worst_ulp"] = write(c.worst_ulp);
  Json histogram = Json::object();
  for (std::size_t b = 0; b < Comparison::kBuckets; ++b)
    histogram[std::string(histogram_labels()[b])] = c.histogram[b];
  json["histogram"] = std::move(histogram);
  json["examples"] = Json::array();
  for (const Element& element : c.examples) json["examples"].push_back(write(element));
  return json;
}

Comparison read_comparison(const Json& json) {
  Comparison c;
  c.accepted = bool_at(json, "accepted");
  c.reason = text_at(json, "reason");
  for (const auto& [key, member] : kCounts) c.*member = integer_at(json, key);
  for (const auto& [key, member] : kDoubles) c.*member = double_at(json, key);
  c.worst = read_element(at(json, "worst"));
  c.worst_ulp = read_element(at(json, "worst_ulp"));
  for (std::size_t b = 0; b < Comparison::kBuckets; ++b)
    c.histogram[b] = integer_at(at(json, "histogram"), std::string(histogram_labels()[b]).c_str());
  for (const Json& element : array_at(json, "examples")) c.examples.push_back(read_element(element));
  return c;
}

Json write(const Policy& p) {
  Json json{{"rule", p.rule.text()},  {"reason", p.reason}, {"place", p.place()},     {"file", p.file},
            {"line", p.line},         {"name", p.name},     {"kernel", p.kernel},     {"output", p.output},
            {"platform", p.platform}, {"arch", p.arch},     {"evidence", p.evidence}, {"expires", p.expires}};
  json["dtypes"] = Json::array();
  for (const DType dtype : p.dtypes) json["dtypes"].push_back(dtype_name(dtype));
  return json;
}

Policy read_policy(const Json& json) {
  Policy p;
  // Rule::text() writes plain numbers, never "2ulp": the dtype does not matter.
  try {
    p.rule = parse_rule(text_at(json, "rule"), DType::f32);
  } catch (const std::invalid_argument& error) {
    throw JsonError(fmt::format("'rule': {}", error.what()));
  }
  p.reason = text_at(json, "reason");
  p.file = text_at(json, "file");
  p.line = static_cast<int>(integer_at(json, "line"));
  p.name = text_at(json, "name");
  p.kernel = text_at(json, "kernel");
  p.output = text_at(json, "output");
  p.platform = text_at(json, "platform");
  p.arch = text_at(json, "arch");
  p.evidence = text_at(json, "evidence");
  p.expires = text_at(json, "expires");
  for (const Json& name : array_at(json, "dtypes"))
    p.dtypes.push_back(dtype_at(Json{{"dtypes", name}}, "dtypes"));
  return p;
}

Json write(const ErrorSpread& s) {
  return {{"outliers", s.outliers},
          {"outlier_ulp", from_ulp(s.outlier_ulp)},
          {"bias", from_double(s.bias)},
          {"max_error", from_double(s.max_error)},
          {"pattern", s.pattern}};
}

ErrorSpread read_spread(const Json& json) {
  ErrorSpread s;
  s.outliers = integer_at(json, "outliers");
  s.outlier_ulp = ulp_at(json, "outlier_ulp");
  s.bias = double_at(json, "bias");
  s.max_error = double_at(json, "max_error");
  s.pattern = text_at(json, "pattern");
  return s;
}

Json write(const Remark& remark) {
  return {{"kind", remark_kind_name(remark.kind)},
          {"machine", remark.machine},
          {"case", remark.case_name},
          {"output", remark.output},
          {"text", remark.text}};
}

Remark read_remark(const Json& json) {
  Remark remark;
  const std::string kind = text_at(json, "kind");
  bool known = false;
  for (const Remark::Kind each : {Remark::Kind::worse, Remark::Kind::sibling, Remark::Kind::pattern}) {
    if (remark_kind_name(each) != kind) continue;
    remark.kind = each;
    known = true;
  }
  if (!known) throw JsonError(fmt::format("'kind' is '{}', which is unknown", kind));
  remark.machine = text_at(json, "machine");
  remark.case_name = text_at(json, "case");
  remark.output = text_at(json, "output");
  remark.text = text_at(json, "text");
  return remark;
}

Json write(const LedgerReport& report) {
  Json json{{"file", report.file},
            {"families", report.review.families},
            {"families_not_in_ledger", report.review.unknown},
            {"remarks", Json::array()}};
  for (const Remark& remark : report.review.remarks) json["remarks"].push_back(write(remark));
  return json;
}

LedgerReport read_ledger_report(const Json& json) {
  LedgerReport report;
  report.file = text_at(json, "file");
  report.review.families = integer_at(json, "families");
  report.review.unknown = integer_at(json, "families_not_in_ledger");
  for (const Json& remark : array_at(json, "remarks")) report.review.remarks.push_back(read_remark(remark));
  return report;
}

Json write(const CaseReport& r) {
  Json json{{"name", r.name},
            {"kernel", r.kernel},
            {"group", r.group},
            {"machine", r.machine},
            {"seed", std::to_string(r.seed)},
            {"fault", r.fault},
            {"verdict", verdict_name(r.verdict)},
            {"reason", r.reason},
            {"seconds", from_double(r.seconds)},
            {"input_hash", from_hex(r.input_hash)},
            {"replay", r.replay}};
  json["outputs"] = Json::array();
  for (const OutputReport& output : r.outputs)
    json["outputs"].push_back(Json{{"output", output.output},
                                   {"dtype", dtype_name(output.dtype)},
                                   {"output_hash", from_hex(output.output_hash)},
                                   {"explanation", output.explanation},
                                   {"policy", write(output.policy)},
                                   {"comparison", write(output.comparison)},
                                   {"spread", write(output.spread)}});
  return json;
}

CaseReport read_case(const Json& json) {
  CaseReport r;
  r.name = text_at(json, "name");
  r.kernel = text_at(json, "kernel");
  r.group = text_at(json, "group");
  r.machine = text_at(json, "machine");
  r.seed = u64_at(json, "seed");
  r.fault = text_at(json, "fault");
  const std::string verdict = text_at(json, "verdict");
  if (const auto parsed = parse_verdict(verdict))
    r.verdict = *parsed;
  else
    throw JsonError(fmt::format("'verdict' is '{}', which is unknown", verdict));
  r.reason = text_at(json, "reason");
  r.seconds = double_at(json, "seconds");
  r.input_hash = u64_at(json, "input_hash");
  r.replay = text_at(json, "replay");
  for (const Json& item : array_at(json, "outputs")) {
    OutputReport output;
    output.output = text_at(item, "output");
    output.dtype = dtype_at(item, "dtype");
    output.output_hash = u64_at(item, "output_hash");
    output.explanation = text_at(item, "explanation");
    output.policy = read_policy(at(item, "policy"));
    output.comparison = read_comparison(at(item, "comparison"));
    if (item.contains("spread")) output.spread = read_spread(item["spread"]);  // added to version 1
    r.outputs.push_back(std::move(output));
  }
  return r;
}

Json write(const MachineInfo& m) {
  const MachineProperties& p = m.properties;
  return {{"name", p.name},
          {"present", m.present},
          {"why", m.why},
          {"platform", p.platform},
          {"build", p.build},
          {"arch", p.arch},
          {"device", p.device},
          {"warp_size", p.warp_size},
          {"fp8_encoding", dtype_name(p.fp8.encoding)},
          {"fp8_max", from_double(static_cast<double>(p.fp8.max))},
          {"max_threads_per_block", p.max_threads_per_block},
          {"max_grid", {p.max_grid[0], p.max_grid[1], p.max_grid[2]}},
          {"shared_bytes_per_block", p.shared_bytes_per_block},
          {"memory_bytes", p.memory_bytes}};
}

MachineInfo read_machine(const Json& json) {
  MachineInfo m;
  MachineProperties& p = m.properties;
  p.name = text_at(json, "name");
  m.present = bool_at(json, "present");
  m.why = text_at(json, "why");
  p.platform = text_at(json, "platform");
  p.build = text_at(json, "build");
  p.arch = text_at(json, "arch");
  p.device = text_at(json, "device");
  p.warp_size = static_cast<int>(integer_at(json, "warp_size"));
  p.fp8.encoding = dtype_at(json, "fp8_encoding");
  p.fp8.max = static_cast<float>(double_at(json, "fp8_max"));
  p.max_threads_per_block = integer_at(json, "max_threads_per_block");
  const Json& grid = array_at(json, "max_grid");
  if (grid.size() != 3) throw JsonError("'max_grid' must hold three numbers");
  for (std::size_t d = 0; d < 3; ++d) p.max_grid[d] = integer_at(Json{{"max_grid", grid[d]}}, "max_grid");
  p.shared_bytes_per_block = integer_at(json, "shared_bytes_per_block");
  p.memory_bytes = integer_at(json, "memory_bytes");
  return m;
}

}  // namespace

std::string case_to_json(const CaseReport& report) {
  return dump(write(report), -1);
}

CaseReport case_from_json(std::string_view text) {
  return read_case(parse(text));
}

std::string results_to_json(const Results& results) {
  Json json{{"schema", "kvr-results"},
            {"schema_version", kResultsSchemaVersion},
            {"kvr_version", results.info.version},
            {"platform", results.info.platform},
            {"tier", results.info.tier},
            {"seed", std::to_string(results.info.seed)},
            {"threads", results.info.threads},
            {"planned", results.info.planned}};
  json["machines"] = Json::array();
  for (const MachineInfo& machine : results.info.machines) json["machines"].push_back(write(machine));
  if (results.ledger) json["ledger"] = write(*results.ledger);
  // One line per case: thousands of them stay readable, comparable by line and half the size.
  std::string text = dump(json, 1);
  text.resize(text.size() - 2);  // "\n}"
  text += ",\n \"cases\": [";
  for (std::size_t i = 0; i < results.cases.size(); ++i)
    text += (i == 0 ? "\n  " : ",\n  ") + case_to_json(results.cases[i]);
  return text + "\n ]\n}\n";
}

Results results_from_json(std::string_view text) {
  const Json json = parse(text);
  if (text_at(json, "schema") != "kvr-results") throw JsonError("'schema' is not 'kvr-results'");
  if (integer_at(json, "schema_version") != kResultsSchemaVersion)
    throw JsonError(fmt::format("'schema_version' is {}, this kvr reads {}",
                                integer_at(json, "schema_version"), kResultsSchemaVersion));
  Results results;
  results.info.version = text_at(json, "kvr_version");
  results.info.platform = text_at(json, "platform");
  results.info.tier = text_at(json, "tier");
  results.info.seed = u64_at(json, "seed");
  results.info.threads = static_cast<int>(integer_at(json, "threads"));
  results.info.planned = integer_at(json, "planned");
  for (const Json& machine : array_at(json, "machines"))
    results.info.machines.push_back(read_machine(machine));
  if (json.contains("ledger")) results.ledger = read_ledger_report(json["ledger"]);
  for (const Json& report : array_at(json, "cases")) results.cases.push_back(read_case(report));
  return results;
}

std::string names_to_json(std::string_view schema, const std::vector<std::string>& names) {
  return dump(Json{{"schema", schema}, {"names", names}}, 1) + "\n";
}

std::string machines_to_json(const std::vector<MachineInfo>& machines) {
  Json list = Json::array();
  for (const MachineInfo& machine : machines) list.push_back(write(machine));
  return dump(Json{{"schema", "kvr-machines"}, {"machines", list}}, 1) + "\n";
}

}  // namespace kvr
