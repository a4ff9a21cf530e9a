# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Contracted builds of kernels: compiled once more with fused multiply-adds wherever the compiler may form one, as GPU compilers do by
# default. The arithmetic envelope of the cpu machines chooses between the two by seed (harness/machine/cpu_machine.cpp).
#
#   KVR_CONTRACTED_BUILDS   warp32_contracted warp64_contracted; empty when there are none
#   KVR_NO_CONTRACTED       then: why

include(KvrBinutils)

option(KVR_BUILD_CONTRACTED "Build kernels with contraction too, for --envelope (cpu platform; needs ld and objcopy)" ON)

set(KVR_CONTRACTED_BUILDS "")
set(KVR_NO_CONTRACTED "")
if(NOT KVR_PLATFORM STREQUAL "cpu")
  set(KVR_NO_CONTRACTED "contracted kernels exist on the cpu platform only")
elseif(NOT KVR_BUILD_CONTRACTED)
  set(KVR_NO_CONTRACTED "contracted kernels were not built: KVR_BUILD_CONTRACTED is OFF")
elseif(NOT KVR_LD OR NOT KVR_OBJCOPY)
  set(KVR_NO_CONTRACTED "contracted kernels were not built: ld and objcopy are needed")
else()
  set(KVR_CONTRACTED_BUILDS warp32_contracted warp64_contracted)
endif()
set(KVR_CONTRACTED_BUILDS "${KVR_CONTRACTED_BUILDS}" CACHE INTERNAL "")
set(KVR_NO_CONTRACTED "${KVR_NO_CONTRACTED}" CACHE INTERNAL "")

# kvr_contract(<target>): the target, an object library of one file, is compiled with contraction. x86-64 has had the instruction since
# 2013, so it must be asked for; every other 64-bit target has it from the start. g++ fuses within straight-line code only, hence the
# unrolling, and not what it has vectorised, which -O1 does not; -O1 also compiles fastest. Its unique symbols cannot be made local.
function(kvr_contract target)
  set_target_properties(${target} PROPERTIES KVR_CONTRACTED ON)  # kvr_options reads it
  target_compile_definitions(${target} PRIVATE KVR_SIMT_CONTRACTED=1)
  target_compile_options(${target} PRIVATE -O1 -g0
    $<$<CXX_COMPILER_ID:GNU>:-fexpensive-optimizations> $<$<CXX_COMPILER_ID:GNU>:-fpeel-loops> $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    target_compile_options(${target} PRIVATE -mfma)
  endif()
endfunction()

# kvr_make_local(<object variable> <file stem> <target>): a rule that makes one self-contained object of an object library. None of its
# inline functions may be merged with those of other objects - they are compiled with instructions that not every CPU has, and round
# otherwise - so all symbols become local, and only what it needs stays visible. Kernels register themselves at start-up and need no more.
function(kvr_make_local result stem target)
  cmake_path(GET stem PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(OUTPUT "${stem}.o"
    COMMAND "${KVR_LD}" -r --force-group-allocation $<TARGET_OBJECTS:${target}> -o "${stem}.joined.o"
    COMMAND "${KVR_OBJCOPY}" --wildcard "--localize-symbol=*" "${stem}.joined.o" "${stem}.o"
    DEPENDS ${target} $<TARGET_OBJECTS:${target}> COMMAND_EXPAND_LISTS VERBATIM COMMENT "Building contracted object ${stem}.o")
  set_source_files_properties("${stem}.o" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${result} "${stem}.o" PARENT_SCOPE)
endfunction()
