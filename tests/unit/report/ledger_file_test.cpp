// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/ledger_file.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>

#include "harness/report/json.h"
#include "harness/report/ledger_text.h"

namespace kvr {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

Ledger sample() {
  Ledger ledger;
  ledger[{"b", "g", "out", DType::bf16, "cpu", "emulated-warp32"}] = {1, 0.0, 0.0123, 0.701, "budget=1"};
  ledger[{"a", "h", "out", DType::f32, "hip", "gfx942"}] = {
      4, 0.0025, 0.25, std::numeric_limits<double>::infinity(),
      "exact outliers.count='numel/100000 + 8' outliers.max_ulp=1"};
  return ledger;
}

constexpr const char* kText = R"({
 "schema": "kvr-ledger", "schema_version": 1,
 "families": [
  {"kernel": "a", "group": "h", "output": "out", "dtype": "f32", "platform": "hip", "arch": "gfx942", "worst_ulp": 4, "outliers": 0.0025, "bias": 0.25, "ratio": "inf", "rule": "exact outliers.count='numel/100000 + 8' outliers.max_ulp=1"},
  {"kernel": "b", "group": "g", "output": "out", "dtype": "bf16", "platform": "cpu", "arch": "emulated-warp32", "worst_ulp": 1, "outliers": 0, "bias": 0.0123, "ratio": 0.701, "rule": "budget=1"}
 ]
}
)";

TEST_CASE("sorted, a family per line; what is written reads back equal") {
  CHECK(ledger_to_json(sample()) == kText);
  CHECK(ledger_from_json(kText) == sample());
  CHECK(ledger_from_json(ledger_to_json({})).empty());
}

TEST_CASE("a ledger that is not what it should be is one line that says why") {
  struct Row {
    const char* find;
    const char* replace;
    const char* says;
  };
  const Row rows[] = {
      {"\"schema_version\": 1", "\"schema_version\": 2", "'schema_version' is 2, this kvr reads 1"},
      {"kvr-ledger", "kvr-results", "'schema' is 'kvr-results', not 'kvr-ledger'"},
      {"\"bias\": 0.25, ", "", "family 1: 'bias' is missing"},
      {"\"bias\": 0.25", "\"bais\": 0.25", "family 1: 'bais' is an unknown key"},
      {"\"bias\": 0.25", "\"bias\": -0.25", "family 1: 'bias' is -0.25, not a number from 0"},
      {"\"bias\": 0.25", "\"bias\": \"small\"", "family 1: 'bias' is \"small\", not a number"},
      {"\"bias\": 0.25", "\"bias\": \"inf\"", "family 1: 'bias' is \"inf\""},
      {"\"ratio\": 0.701", "\"ratio\": \"nan\"", "family 2: 'ratio' is \"nan\""},
      {"\"outliers\": 0.0025", "\"outliers\": 2", "family 1: 'outliers' is 2, not a number from 0 to 1"},
      {"\"worst_ulp\": 4", "\"worst_ulp\": 4.5", "family 1: 'worst_ulp' is 4.5, not an integer"},
      {"\"worst_ulp\": 4", "\"worst_ulp\": -1", "family 1: 'worst_ulp' is -1"},
      {"\"f32\"", "\"f31\"", "family 1: 'dtype' is 'f31'"},
      {"\"hip\"", "\"rocm\"", "family 1: 'platform' is 'rocm', none of cpu, cuda, hip"},
      {"\"arch\": \"gfx942\"", "\"arch\": \"\"", "family 1: 'arch' is empty"},
      {"budget=1", "budget=one", "family 2: 'rule': budget"},
      {"\"families\": [", "\"families\": [7, ", "family 1: is not an object"},
      {"\"families\": [", "\"families\": 7, \"more\": [", "'families' is not a list"},
  };
  for (const Row& row : rows) {
    std::string text = kText;
    const std::size_t at = text.find(row.find);
    CAPTURE(row.find, row.replace);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string(row.find).size(), row.replace);
    CHECK_THROWS_MATCHES(ledger_from_json(text), JsonError, MessageMatches(ContainsSubstring(row.says)));
  }
}

TEST_CASE("a family that is there twice, and a file that was cut off anywhere") {
  std::string twice = ledger_to_json(sample());
  const std::size_t begin = twice.find("  {\"kernel\": \"a\"");
  const std::string line = twice.substr(begin, twice.find('\n', begin) + 1 - begin);
  twice.insert(begin, line);
  CHECK_THROWS_MATCHES(
      ledger_from_json(twice), JsonError,
      MessageMatches(ContainsSubstring("family 2: a/h 'out' f32 on hip gfx942 is there twice")));
  const std::string whole = kText;
  for (std::size_t length = 0; length < whole.size() - 2; length += 7) {
    CAPTURE(length);
    CHECK_THROWS_AS(ledger_from_json(whole.substr(0, length)), JsonError);
  }
}

TEST_CASE("what people read of it") {
  LedgerReport report{"tests/ledger.json", {}};
  report.review.families = 12;
  CHECK(ledger_text(report) == "ledger tests/ledger.json: nothing unusual in 12 families of outputs\n");
  report.review.unknown = 3;
  report.review.remarks.push_back({Remark::Kind::worse, "cpu:warp32", "k/g/n=1/seed=0", "out", "text"});
  CHECK(
      ledger_text(report) ==
      "ledger tests/ledger.json: 1 remark on what is inside its policy; 3 of 12 families are not in it (kvr "
      "check --update-ledger adds them)\n"
      "  worse    cpu:warp32  k/g/n=1/seed=0 'out': text\n");
  report.review.remarks.resize(25, report.review.remarks[0]);
  const std::string many = ledger_text(report);
  CHECK(std::count(many.begin(), many.end(), '\n') == 22);
  CHECK_THAT(many, ContainsSubstring("and 5 more: --json FILE has all"));
}

}  // namespace
}  // namespace kvr
