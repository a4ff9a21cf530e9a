# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# GNU's ld and objcopy, which make the self-contained objects of contracted and strict kernels. CMake's own choice beside clang may be
# lld, whose older versions cannot merge section groups.
#
#   KVR_LD, KVR_OBJCOPY   NOTFOUND where there is none
find_program(KVR_LD NAMES ld.bfd ld DOC "GNU ld, for contracted and strict kernels")
find_program(KVR_OBJCOPY NAMES objcopy DOC "objcopy, for contracted and strict kernels")
mark_as_advanced(KVR_LD KVR_OBJCOPY)
