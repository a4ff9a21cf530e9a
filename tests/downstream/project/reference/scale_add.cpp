// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "reference/scale_add.h"

namespace scale_add {

double reference(const ScaleAddArgs& args, std::int64_t i) {
  return static_cast<double>(args.scale) * static_cast<double>(args.x[i]) + static_cast<double>(args.shift);
}

}  // namespace scale_add
