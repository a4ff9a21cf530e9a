// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The kernels linked into this program; filled during start-up by KVR_REGISTER_KERNEL.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "kernels/common/registry_types.h"

namespace kvr {

// Throws std::logic_error naming what is missing (kernel, build, fault) or the argument type that does not
// match.
const KernelEntry& find_kernel(std::string_view kernel, std::string_view build, std::string_view fault,
                               std::type_index args);
bool has_kernel(std::string_view kernel, std::string_view build);  // the production kernel
std::vector<std::string> kernel_names();
// Why the kernel does not exist on machines with warps of `warp_size` lanes: "built for warps of 32 only".
// Nothing where no limit was declared: a kernel that is missing all the same is an error of find_kernel().
std::optional<std::string> why_no_kernel(std::string_view kernel, int warp_size);
// Names of the source faults compiled for a kernel and build, in registration-independent (sorted) order.
std::vector<std::string> kernel_faults(std::string_view kernel, std::string_view build);

}  // namespace kvr
