// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "tests/unit/machine/contraction.h"

#include "kernels/common/registry.h"
#include "kernels/common/simt.h"

namespace kvr::KVR_BUILD {
namespace {

using test::ContractionArgs;

struct Operands {
  float a, b, c;
};

KVR_DEVICE Operands operands(const ContractionArgs& args, test::ContractionForm form) {
  const float* in = args.in + 3 * form;
  return {in[0], in[1], in[2]};
}

KVR_GLOBAL void contraction_kernel(const ContractionArgs args) {
  Operands x = operands(args, test::kPlainSum);
  args.out[test::kPlainSum] = x.a * x.b + x.c;
  x = operands(args, test::kPlainDifference);
  args.out[test::kPlainDifference] = x.a * x.b - -x.c;
  x = operands(args, test::kProductRounded);
  args.out[test::kProductRounded] = __fmul_rn(x.a, x.b) + x.c;
  x = operands(args, test::kSumRounded);
  args.out[test::kSumRounded] = __fadd_rn(x.a * x.b, x.c);
  x = operands(args, test::kDifferenceRounded);
  args.out[test::kDifferenceRounded] = __fsub_rn(x.a * x.b, -x.c);
  x = operands(args, test::kBothRounded);
  args.out[test::kBothRounded] = __fadd_rn(__fmul_rn(x.a, x.b), x.c);
  x = operands(args, test::kFused);
  args.out[test::kFused] = __fmaf_rn(x.a, x.b, x.c);
}

LaunchStatus launch_contraction(const ContractionArgs& args, Stream stream) {
  return KVR_LAUNCH(contraction_kernel, 1, 1, 0, stream, args);
}

}  // namespace

KVR_REGISTER_KERNEL(contraction, ContractionArgs)

}  // namespace kvr::KVR_BUILD
