// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// log, exp2, sin, cos built from correctly rounded operations only, so that inputs made with them have the
// same bits everywhere (libm's do not). Accurate to a few ULP of double: ample for data that is rounded to 24
// bits or fewer.
#pragma once

namespace kvr {

double portable_log(double x);   // x > 0, finite
double portable_exp2(double x);  // |x| <= 1000
struct SinCos {
  double sin;
  double cos;
};
SinCos portable_sincos(double radians);  // |radians| <= 2^31

}  // namespace kvr
