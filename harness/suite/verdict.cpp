// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/verdict.h"

namespace kvr {

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::fail:
      return "fail";
    case Verdict::unsupported:
      return "unsupported";
    case Verdict::skipped:
      return "skipped";
    case Verdict::launch_error:
      return "launch_error";
    case Verdict::crash:
      return "crash";
    case Verdict::timeout:
      return "timeout";
    case Verdict::no_power:
      return "no_power";
  }
  return "?";
}

std::optional<Verdict> parse_verdict(std::string_view name) {
  for (const Verdict verdict : {Verdict::pass, Verdict::fail, Verdict::unsupported, Verdict::skipped,
                                Verdict::launch_error, Verdict::crash, Verdict::timeout, Verdict::no_power})
    if (verdict_name(verdict) == name) return verdict;
  return std::nullopt;
}

bool is_failure(Verdict verdict) {
  return verdict != Verdict::pass && verdict != Verdict::unsupported && verdict != Verdict::skipped;
}

}  // namespace kvr
