// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/traffic_text.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace kvr {
namespace {

using Catch::Matchers::ContainsSubstring;

TrafficReport sample(const char* name, bool accepted) {
  TrafficReport report;
  report.name = std::string("scale/serving/") + name;
  report.kernel = "scale";
  report.machine = "cpu:warp32+strict";
  report.accepted = accepted;
  report.minimum = 1000;
  report.moved = accepted ? 1040 : 1600;
  report.load_sectors = 25;
  report.launch.accesses = 8;
  report.launch.wide_accesses = 6;
  report.launch.tensors = {{"w", 25, 0, 20, 0, 640, 800}};
  report.cached = {{"w", "weights"}};
  return report;
}

TEST_CASE("a table per kernel, then what was declared, then what was rejected") {
  TrafficReport lenient = sample("n=3", true);
  lenient.limit = 2.0;
  lenient.reason = "two passes by design";
  TrafficReport bad = sample("n=2", false);
  bad.reason = "too much";
  const std::string text = traffic_text({sample("n=1", true), bad, lenient});
  INFO(text);
  CHECK(text.starts_with("cpu:warp32+strict  scale/serving\ncase  load sectors"));
  CHECK_THAT(text, ContainsSubstring("n=1             25") && ContainsSubstring("1.040") &&
                       ContainsSubstring("75.0 %"));
  CHECK_THAT(text, ContainsSubstring("\n  scale, 'w': weights\n"));
  CHECK_THAT(text, ContainsSubstring("\n  2 x for scale/serving/n=3: two passes by design\n"));
  CHECK_THAT(text, ContainsSubstring("\n  cpu:warp32+strict  scale/serving/n=2: too much\n"));
}

TEST_CASE("the same as JSON, a tensor with the reason why it counts once") {
  const std::string json = traffic_to_json({sample("n=2", false)});
  for (const char* part :
       {"\"schema\": \"kvr-traffic\"", "\"name\": \"scale/serving/n=2\"", "\"accepted\": false",
        "\"moved_bytes\": 1600", "\"ratio\": 1.6", "\"limit\": 1.05", "\"wide_accesses\": 6",
        "\"cached\": \"weights\"", "\"unique_load_sectors\": 20", "\"unique_bytes\": 640",
        "\"bytes_requested\": 800"})
    CHECK_THAT(json, ContainsSubstring(part));
}

}  // namespace
}  // namespace kvr
