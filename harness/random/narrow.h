// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Rounds many values at once to the codes of a dtype: encode() for each of them, faster.
#pragma once

#include <cstddef>

#include "harness/numeric/dtype.h"

namespace kvr {

// Writes count * dtype_size(dtype) bytes. Round to nearest even; fp8 saturates (an input in fp8 has been
// through a quantiser), wider formats overflow to infinity.
void narrow(DType dtype, const double* values, std::size_t count, std::byte* out);
// values[i] * scale + shift, each operation in double, then as above.
void narrow(DType dtype, const float* values, double scale, double shift, std::size_t count, std::byte* out);

}  // namespace kvr
