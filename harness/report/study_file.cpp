// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/study_file.h"

#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "harness/random/random.h"
#include "harness/report/json.h"
#include "harness/report/results_file.h"

namespace kvr {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 2;

// 64-bit numbers are strings: many readers of JSON keep numbers in a double. Doubles are written as their
// bits too, in hex, so that a merge of files gives the very totals of one run.
std::string from_u64(std::uint64_t value) {
  return fmt::format("{}", value);
}
std::uint64_t to_u64(const Json& json) {
  return std::stoull(json.get<std::string>(), nullptr, 0);
}
Json from_double(double value) {
  return Json{{"value", fmt::format("{:.6g}", value)},
              {"bits", fmt::format("{:#018x}", std::bit_cast<std::uint64_t>(value))}};
}
double to_double(const Json& json) {
  return std::bit_cast<double>(to_u64(json.at("bits")));
}

Json from_extreme(const Extreme& extreme) {
  const Element& e = extreme.element;
  return {{"value", from_double(extreme.value)},
          {"seed", from_u64(extreme.seed)},
          {"index", e.index},
          {"row", e.row},
          {"column", e.column},
          {"code", fmt::format("{:#x}", e.code)},
          {"expected_code", fmt::format("{:#x}", e.expected_code)},
          {"actual", from_double(e.actual)},
          {"expected", from_double(e.expected)},
          {"error", from_double(e.error)},
          {"allowed", from_double(e.allowed)},
          {"ulp", from_u64(static_cast<std::uint64_t>(e.ulp))}};
}

Extreme to_extreme(const Json& json) {
  Extreme extreme;
  extreme.value = to_double(json.at("value"));
  extreme.seed = to_u64(json.at("seed"));
  Element& e = extreme.element;
  e.index = json.at("index").get<std::int64_t>();
  e.row = json.at("row").get<std::int64_t>();
  e.column = json.at("column").get<std::int64_t>();
  e.code = to_u64(json.at("code"));
  e.expected_code = to_u64(json.at("expected_code"));
  e.actual = to_double(json.at("actual"));
  e.expected = to_double(json.at("expected"));
  e.error = to_double(json.at("error"));
  e.allowed = to_double(json.at("allowed"));
  e.ulp = static_cast<std::int64_t>(to_u64(json.at("ulp")));
  return extreme;
}

Json from_chunks(const ChunkSet& chunks) {
  Json runs = Json::array();
  for (const ChunkSet::Run& run : chunks.runs()) runs.push_back({run.begin, run.end});
  return runs;
}

ChunkSet to_chunks(const Json& runs) {
  ChunkSet chunks;
  for (const Json& run : runs) chunks.add({run.at(0).get<std::uint64_t>(), run.at(1).get<std::uint64_t>()});
  return chunks;
}

Json from_output(const OutputTally& output) {
  Json policies = Json::array();
  for (const PolicyTally& policy : output.policies)
    policies.push_back({{"policy", policy.policy},
                        {"shipped", policy.shipped},
                        {"rule", policy.rule},
                        {"failing", from_u64(policy.failing)},
                        {"first_failing_seed", from_u64(policy.first_failing_seed)},
                        {"first_failure", policy.first_failure},
                        {"worst_ratio", from_extreme(policy.worst_ratio)}});
  return {{"output", output.output},
          {"dtype", dtype_name(output.dtype)},
          {"elements", from_u64(output.elements)},
          {"over_half_ulp", from_u64(output.over_half_ulp)},
          {"differing", from_u64(output.differing)},
          {"worst_abs", from_extreme(output.worst_abs)},
          {"worst_rel", from_extreme(output.worst_rel)},
          {"worst_ulp", from_extreme(output.worst_ulp)},
          {"worst_bias", from_double(output.worst_bias)},
          {"worst_row_l2", from_double(output.worst_row_l2)},
          {"max_abs_expected", from_double(output.max_abs_expected)},
          {"moved", from_u64(output.moved)},
          {"moved_draws", from_u64(output.moved_draws)},
          {"worst_moved", from_extreme(output.worst_moved)},
          {"policies", std::move(policies)}};
}

OutputTally to_output(const Json& json) {
  OutputTally output;
  output.output = json.at("output").get<std::string>();
  const auto dtype = parse_dtype(json.at("dtype").get<std::string>());
  if (!dtype) throw JsonError(fmt::format("'dtype' is '{}'", json.at("dtype").get<std::string>()));
  output.dtype = *dtype;
  output.elements = to_u64(json.at("elements"));
  output.over_half_ulp = to_u64(json.at("over_half_ulp"));
  output.differing = to_u64(json.at("differing"));
  output.worst_abs = to_extreme(json.at("worst_abs"));
  output.worst_rel = to_extreme(json.at("worst_rel"));
  output.worst_ulp = to_extreme(json.at("worst_ulp"));
  output.worst_bias = to_double(json.at("worst_bias"));
  output.worst_row_l2 = to_double(json.at("worst_row_l2"));
  output.max_abs_expected = to_double(json.at("max_abs_expected"));
  output.moved = to_u64(json.at("moved"));
  output.moved_draws = to_u64(json.at("moved_draws"));
  output.worst_moved = to_extreme(json.at("worst_moved"));
  for (const Json& from : json.at("policies")) {
    PolicyTally& policy = output.policies.emplace_back();
    policy.policy = from.at("policy").get<std::string>();
    policy.shipped = from.at("shipped").get<bool>();
    policy.rule = from.at("rule").get<std::string>();
    policy.failing = to_u64(from.at("failing"));
    policy.first_failing_seed = to_u64(from.at("first_failing_seed"));
    policy.first_failure = from.at("first_failure").get<std::string>();
    policy.worst_ratio = to_extreme(from.at("worst_ratio"));
  }
  return output;
}

std::string checksum(const Json& without) {
  return fmt::format("{:#018x}", hash_text(without.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace

std::string study_to_json(const StudyResult& study) {
  Json json{{"schema", "kvr-study"},
            {"schema_version", kVersion},
            {"case", study.case_name},
            {"machine", study.machine},
            {"fault", study.fault},
            {"envelope", study.envelope},
            {"envelope_gap", study.envelope_gap},
            {"contracted_by", study.contracted_by},
            {"first_seed", from_u64(study.first_seed)},
            {"planned", from_u64(study.planned)},
            {"draws", from_u64(study.draws)},
            {"digest", fmt::format("{:#018x}", study.digest)},
            {"done_chunks", from_chunks(study.done_chunks)},
            {"outputs", Json::array()}};
  for (const OutputTally& output : study.outputs) json["outputs"].push_back(from_output(output));
  json["checksum"] = checksum(json);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

StudyResult study_from_json(std::string_view text) {
  try {
    Json json = Json::parse(text);
    if (!json.is_object() || json.value("schema", "") != "kvr-study") throw JsonError("not a study of kvr");
    if (json.at("schema_version") != kVersion)
      throw JsonError(fmt::format("study of schema version {}; this kvr reads version {}",
                                  json.at("schema_version").dump(), kVersion));
    const auto sum = json.at("checksum").get<std::string>();
    json.erase("checksum");
    if (sum != checksum(json)) throw JsonError("the checksum does not fit: the file was cut off or edited");
    StudyResult study;
    study.case_name = json.at("case").get<std::string>();
    study.machine = json.at("machine").get<std::string>();
    study.fault = json.at("fault").get<std::string>();
    study.envelope = json.at("envelope").get<bool>();
    study.envelope_gap = json.at("envelope_gap").get<std::string>();
    study.contracted_by = json.at("contracted_by").get<std::string>();
    study.first_seed = to_u64(json.at("first_seed"));
    study.planned = to_u64(json.at("planned"));
    study.draws = to_u64(json.at("draws"));
    study.digest = to_u64(json.at("digest"));
    study.done_chunks = to_chunks(json.at("done_chunks"));
    for (const Json& output : json.at("outputs")) study.outputs.push_back(to_output(output));
    if (study.draws != draws_in(study.done_chunks, study.planned))
      throw JsonError(
          fmt::format("{} draws in chunks of {}", study.draws, draws_in(study.done_chunks, study.planned)));
    return study;
  } catch (const Json::parse_error& error) {
    throw JsonError(fmt::format("not a study of kvr, or cut off: no JSON from byte {} of {} on", error.byte,
                                text.size()));
  } catch (const Json::exception& error) {
    throw JsonError(fmt::format("not a complete study: {}", error.what()));
  } catch (const std::logic_error& error) {  // std::stoull, ChunkSet
    throw JsonError(fmt::format("not a complete study: {}", error.what()));
  }
}

StudyResult read_study(const std::filesystem::path& file) {
  const std::string text = read_text(file);
  try {
    return study_from_json(text);
  } catch (const JsonError& error) {
    throw JsonError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace kvr
