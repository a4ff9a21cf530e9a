// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/heap.h"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <limits>

namespace kvr {

void keep_freed_memory() {
#if defined(M_MMAP_MAX) && defined(M_TRIM_THRESHOLD)
  ::mallopt(M_MMAP_MAX, 0);  // blocks with a mapping of their own are unmapped when freed
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

}  // namespace kvr
