// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Reference for scale_add, in double: the product of two floats is exact there, and so is nearly every sum.
#pragma once

#include "kernels/scale_add/scale_add.h"

namespace scale_add {

double reference(const ScaleAddArgs& args, std::int64_t i);

}  // namespace scale_add
