// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "tests/unit/report/sample_report.h"

#include <cmath>
#include <limits>

namespace kvr::test {

// Bug report A1: 24.062 rounds to 24.0 (0x41c0); atol = 0.06 refuses it.
CaseReport sample_report() {
  const Element tolerance{3901, 30, 61, 0x41c0, 0x41c0, 24.0, 24.062, 0.062, 0.06, 0, Mismatch::tolerance};
  const Element nan{7,
                    0,
                    7,
                    0x7fc0,
                    0x3f80,
                    std::numeric_limits<double>::quiet_NaN(),
                    1.0,
                    std::numeric_limits<double>::quiet_NaN(),
                    0.06,
                    kNanDistance,
                    Mismatch::unexpected_nan};
  OutputReport output;
  output.output = "out";
  output.dtype = DType::bf16;
  output.output_hash = 0xFEDCBA9876543210ULL;
  output.explanation = "one NaN and a rounding error";
  output.policy.rule.atol = 0.06;
  output.policy.rule.rtol = 0.0;
  output.policy.name = "absolute";
  output.policy.kernel = "k_norm_rope";
  output.policy.dtypes = {DType::bf16, DType::fp16};
  output.policy.reason = "absolute only: \"smaller\" than half a step from 16 up";
  output.policy.evidence = "a report";
  output.policy.expires = "2027-06-01";
  output.policy.file = "tests/tolerances.toml";
  output.policy.line = 21;
  Comparison& c = output.comparison;
  c.reason = "element 7 (row 0, column 7): unexpected NaN";
  c.numel = 4736;
  c.failing = 2;
  c.differing = 1;
  c.worst_ratio = std::numeric_limits<double>::infinity();
  c.worst = nan;
  c.worst_ulp = nan;
  c.max_abs_error = 0.062;
  c.max_rel_error = std::numeric_limits<double>::quiet_NaN();
  c.max_abs_expected = 30.5;
  c.mean_signed_ulp = -0.0123;
  c.worst_row_l2 = 0.0021;
  c.worst_row_l2_row = 30;
  c.worst_row_failing = 1;
  c.worst_row = 0;
  c.failing_rows = 2;
  c.nan_actual = 1;
  c.histogram = {4735, 0, 0, 0, 0, 0, 0, 0, 1};
  c.examples = {nan, tolerance};

  output.spread = {2, kNanDistance, -0.5, std::numeric_limits<double>::infinity(), "column 7 holds 2"};

  CaseReport report;
  report.name = "k_norm_rope/public/n=37/dtype=bf16";
  report.kernel = "k_norm_rope";
  report.group = "public";
  report.machine = "cpu:warp32";
  report.seed = 18446744073709551615ULL;
  report.verdict = Verdict::fail;
  report.reason = "'out': " + c.reason;
  report.input_hash = 0x0123456789ABCDEFULL;
  report.seconds = 0.0034567890123456789;
  report.replay =
      "kvr replay 'k_norm_rope/public/n=37/dtype=bf16/seed=18446744073709551615' --machine cpu:warp32";
  report.outputs = {output};
  return report;
}

}  // namespace kvr::test
