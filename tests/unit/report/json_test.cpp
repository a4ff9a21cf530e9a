// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/json.h"

#include <unistd.h>

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "harness/report/results_file.h"
#include "tests/unit/report/sample_report.h"

namespace kvr {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using test::sample_report;

bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

void check_same(const Element& a, const Element& b) {
  CHECK(a.index == b.index);
  CHECK(a.row == b.row);
  CHECK(a.column == b.column);
  CHECK(a.code == b.code);
  CHECK(a.expected_code == b.expected_code);
  CHECK(same(a.actual, b.actual));
  CHECK(same(a.expected, b.expected));
  CHECK(same(a.error, b.error));
  CHECK(same(a.allowed, b.allowed));
  CHECK(a.ulp == b.ulp);
  CHECK(a.mismatch == b.mismatch);
}

void check_same(const Comparison& a, const Comparison& b) {
  CHECK(a.accepted == b.accepted);
  CHECK(a.reason == b.reason);
  CHECK(a.numel == b.numel);
  CHECK(a.failing == b.failing);
  CHECK(a.excused == b.excused);
  CHECK(a.outlier_limit == b.outlier_limit);
  CHECK(a.differing == b.differing);
  CHECK(same(a.worst_ratio, b.worst_ratio));
  check_same(a.worst, b.worst);
  check_same(a.worst_ulp, b.worst_ulp);
  CHECK(same(a.max_abs_error, b.max_abs_error));
  CHECK(same(a.max_rel_error, b.max_rel_error));
  CHECK(same(a.max_abs_expected, b.max_abs_expected));
  CHECK(same(a.mean_signed_ulp, b.mean_signed_ulp));
  CHECK(same(a.worst_row_l2, b.worst_row_l2));
  CHECK(a.worst_row_l2_row == b.worst_row_l2_row);
  CHECK(a.worst_row_failing == b.worst_row_failing);
  CHECK(a.worst_row == b.worst_row);
  CHECK(a.failing_rows == b.failing_rows);
  CHECK(a.nan_actual == b.nan_actual);
  CHECK(a.nan_expected == b.nan_expected);
  CHECK(a.inf_actual == b.inf_actual);
  CHECK(a.inf_expected == b.inf_expected);
  CHECK(a.histogram == b.histogram);
  REQUIRE(a.examples.size() == b.examples.size());
  for (std::size_t i = 0; i < a.examples.size(); ++i) check_same(a.examples[i], b.examples[i]);
}

void check_same(const CaseReport& a, const CaseReport& b) {
  CHECK(a.name == b.name);
  CHECK(a.kernel == b.kernel);
  CHECK(a.group == b.group);
  CHECK(a.machine == b.machine);
  CHECK(a.seed == b.seed);
  CHECK(a.fault == b.fault);
  CHECK(a.verdict == b.verdict);
  CHECK(a.reason == b.reason);
  CHECK(a.input_hash == b.input_hash);
  CHECK(same(a.seconds, b.seconds));
  CHECK(a.replay == b.replay);
  REQUIRE(a.outputs.size() == b.outputs.size());
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    const OutputReport &p = a.outputs[i], &q = b.outputs[i];
    CHECK(p.output == q.output);
    CHECK(p.dtype == q.dtype);
    CHECK(p.output_hash == q.output_hash);
    CHECK(p.explanation == q.explanation);
    CHECK(p.policy.rule == q.policy.rule);
    CHECK(p.policy.name == q.policy.name);
    CHECK(p.policy.kernel == q.policy.kernel);
    CHECK(p.policy.output == q.policy.output);
    CHECK(p.policy.platform == q.policy.platform);
    CHECK(p.policy.arch == q.policy.arch);
    CHECK(p.policy.dtypes == q.policy.dtypes);
    CHECK(p.policy.reason == q.policy.reason);
    CHECK(p.policy.evidence == q.policy.evidence);
    CHECK(p.policy.expires == q.policy.expires);
    CHECK(p.policy.place() == q.policy.place());
    check_same(p.comparison, q.comparison);
    CHECK(p.spread.outliers == q.spread.outliers);
    CHECK(p.spread.outlier_ulp == q.spread.outlier_ulp);
    CHECK(same(p.spread.bias, q.spread.bias));
    CHECK(same(p.spread.max_error, q.spread.max_error));
    CHECK(p.spread.pattern == q.spread.pattern);
  }
}

Results sample_results() {
  Results results;
  results.info.version = "1.2.3";
  results.info.platform = "cpu";
  MachineInfo machine;
  machine.properties.name = "cpu:warp64";
  machine.properties.platform = "cpu";
  machine.properties.arch = "emulated-warp64";
  machine.properties.warp_size = 64;
  machine.properties.fp8 = kE4m3fnuz224;
  machine.properties.memory_bytes = std::int64_t{1} << 40;
  machine.present = false;
  machine.why = "no CUDA-capable device is detected";
  results.info.machines = {machine};
  results.info.tier = "full";
  results.info.seed = 18446744073709551615ULL;
  results.info.threads = 2;
  results.info.planned = 1;
  results.cases = {sample_report()};
  return results;
}

TEST_CASE("a report reads back as it was written, non-finite numbers and 64-bit values included") {
  const std::string text = case_to_json(sample_report());
  CHECK(text.find('\n') == std::string::npos);
  check_same(case_from_json(text), sample_report());
}

TEST_CASE("what stands in the file: hex for hashes and codes, strings for what is not finite") {
  const std::string text = case_to_json(sample_report());
  for (const char* part : {R"("input_hash":"0x0123456789abcdef")", R"("output_hash":"0xfedcba9876543210")",
                           R"("seed":"18446744073709551615")", R"("code":"0x7fc0")", R"("worst_ratio":"inf")",
                           R"("max_rel_error":"nan")", R"("ulp":"nan")", R"("verdict":"fail")",
                           R"("rule":"atol=0.06 rtol=0")", R"("place":"tests/tolerances.toml:21")"})
    CHECK_THAT(text, ContainsSubstring(part));
}

TEST_CASE("a results file reads back with its header") {
  const Results written = sample_results();
  const Results read = results_from_json(results_to_json(written));
  CHECK(read.info.version == "1.2.3");
  CHECK(read.info.platform == "cpu");
  CHECK(read.info.tier == "full");
  CHECK(read.info.seed == written.info.seed);
  CHECK(read.info.threads == 2);
  CHECK(read.info.planned == 1);
  REQUIRE(read.info.machines.size() == 1);
  const MachineInfo& machine = read.info.machines[0];
  CHECK(machine.properties.name == "cpu:warp64");
  CHECK(machine.properties.arch == "emulated-warp64");
  CHECK(machine.properties.warp_size == 64);
  CHECK(machine.properties.fp8.encoding == DType::e4m3fnuz);
  CHECK(machine.properties.fp8.max == 224.0F);
  CHECK(machine.properties.max_grid[1] == 65535);
  CHECK(machine.properties.memory_bytes == std::int64_t{1} << 40);
  CHECK_FALSE(machine.present);
  CHECK(machine.why == "no CUDA-capable device is detected");
  REQUIRE(read.cases.size() == 1);
  check_same(read.cases[0], written.cases[0]);
}

TEST_CASE("what the ledger made of a run reads back, and files from before there was one are read") {
  Results written = sample_results();
  CHECK_FALSE(results_from_json(results_to_json(written)).ledger.has_value());
  LedgerReport& report = written.ledger.emplace();
  report.file = "tests/ledger.json";
  report.review.families = 7;
  report.review.unknown = 2;
  for (const Remark::Kind kind : {Remark::Kind::worse, Remark::Kind::sibling, Remark::Kind::pattern})
    report.review.remarks.push_back({kind, "cpu:warp32", "k/g/n=1/seed=0", "out", "a \"text\""});
  const std::string text = results_to_json(written);
  const auto read = results_from_json(text).ledger;
  REQUIRE(read.has_value());
  CHECK(read->file == report.file);
  CHECK(read->review.families == 7);
  CHECK(read->review.unknown == 2);
  REQUIRE(read->review.remarks.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(read->review.remarks[i].kind == report.review.remarks[i].kind);
    CHECK(read->review.remarks[i].machine == "cpu:warp32");
    CHECK(read->review.remarks[i].case_name == "k/g/n=1/seed=0");
    CHECK(read->review.remarks[i].output == "out");
    CHECK(read->review.remarks[i].text == "a \"text\"");
  }
  std::string old = text;
  const std::size_t at = old.find(",\"spread\":{");
  REQUIRE(at != std::string::npos);
  old.erase(at, old.find('}', at) + 1 - at);
  CHECK(results_from_json(old).cases.at(0).outputs.at(0).spread.outliers == 0);
}

TEST_CASE("text that a kernel garbled is kept readable, never an exception") {
  CaseReport report = sample_report();
  report.reason = "not UTF-8: \xff\xfe, quote \" and newline \n";
  CHECK_THAT(case_from_json(case_to_json(report)).reason, ContainsSubstring("quote \" and newline \n"));
}

TEST_CASE("what cannot be read is an error that names the key") {
  CHECK_THROWS_MATCHES(results_from_json("{"), JsonError, MessageMatches(ContainsSubstring("not JSON")));
  CHECK_THROWS_MATCHES(results_from_json("{}"), JsonError, Message("'schema' is missing"));
  CHECK_THROWS_MATCHES(results_from_json(R"({"schema": "other"})"), JsonError,
                       Message("'schema' is not 'kvr-results'"));
  CHECK_THROWS_MATCHES(results_from_json(R"({"schema": "kvr-results", "schema_version": 99})"), JsonError,
                       Message("'schema_version' is 99, this kvr reads 1"));
  std::string text = case_to_json(sample_report());
  text.replace(text.find(R"("verdict":"fail")"), 16, R"("verdict":"fine")");
  CHECK_THROWS_MATCHES(case_from_json(text), JsonError, MessageMatches(ContainsSubstring("'fine'")));
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("kvr-report-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const char* name) const { return (path_ / name).string(); }
  auto count() const { return std::distance(std::filesystem::directory_iterator(path_), {}); }

 private:
  std::filesystem::path path_;
};

TEST_CASE("a results file appears whole, and only when it is written") {
  const Folder folder;
  const ResultsFile file(folder / "r.json");
  CHECK(folder.count() == 0);
  file.write(results_to_json(sample_results()));
  CHECK(folder.count() == 1);  // no r.json.tmp
  CHECK(read_results(folder / "r.json").cases.size() == 1);
}

TEST_CASE("a file that is there stays as it is until the new one is whole") {
  const Folder folder;
  std::ofstream(folder / "r.json") << "old";
  const ResultsFile file(folder / "r.json");
  std::string text;
  std::ifstream(folder / "r.json") >> text;
  CHECK(text == "old");
}

TEST_CASE("what cannot be written is refused at once") {
  const Folder folder;
  CHECK_THROWS_MATCHES(ResultsFile(folder / "no/r.json"), FileError,
                       MessageMatches(ContainsSubstring("No such file or directory")));
  CHECK_THROWS_MATCHES(ResultsFile(folder / "."), FileError,
                       MessageMatches(ContainsSubstring("is a directory")));
  CHECK_THROWS_MATCHES(ResultsFile("/dev/null"), FileError,
                       MessageMatches(ContainsSubstring("not a regular file")));
  CHECK_THROWS_AS(ResultsFile(""), FileError);
  CHECK(folder.count() == 0);
  CHECK_THROWS_MATCHES(read_results(folder / "none.json"), FileError,
                       MessageMatches(ContainsSubstring("none.json")));
}

}  // namespace
}  // namespace kvr
