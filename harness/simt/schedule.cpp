// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include <stdexcept>
#include <string>

#include "harness/simt/device.h"

namespace kvr::simt {

Schedule Schedule::parse(std::string_view name, std::uint64_t seed) {
  if (name == "forward") return {Kind::forward, seed};
  if (name == "reverse") return {Kind::reverse, seed};
  if (name == "random") return {Kind::random, seed};
  throw std::invalid_argument("unknown schedule '" + std::string(name) +
                              "'; known: forward, reverse, random");
}

}  // namespace kvr::simt
