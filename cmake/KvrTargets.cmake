# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# How the parts of the harness are declared: libraries, unit tests. Kernels, references and cases: KvrKernels.cmake.

# Everything that uses kvr. No contraction and no fast-math on the host: references promise the same bits everywhere. (Only kernels may
# have contraction, in builds of their own: KvrContracted.cmake.)
add_library(kvr_options INTERFACE)
add_library(kvr::options ALIAS kvr_options)
set_target_properties(kvr_options PROPERTIES EXPORT_NAME options)
target_include_directories(kvr_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/kvr>)
target_compile_definitions(kvr_options INTERFACE KVR_PLATFORM_${KVR_PLATFORM}=1)
target_compile_options(kvr_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=$<IF:$<BOOL:$<TARGET_PROPERTY:KVR_CONTRACTED>>,fast,off>>
  # Nobody reads the exception flags or errno. No value changes, and selections between floats become vector instructions.
  $<$<COMPILE_LANGUAGE:CXX>:-fno-trapping-math> $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>)
target_compile_features(kvr_options INTERFACE cxx_std_20)

# This project's own sources. nvcc wraps every line in code of its own, which -Wpedantic and -Wshadow reject.
add_library(kvr_warnings INTERFACE)
target_compile_options(kvr_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX,HIP>:-Wall -Wextra -Wpedantic -Wshadow>
  # g++ 12 reports assignments of short literals to strings (GCC bug 105651).
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>
  # clang reports what libstdc++ 12's std::stable_sort calls, and from 22 on what Catch2's macros use.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-deprecated-declarations>
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,22>>:-Wno-c2y-extensions>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
  $<$<AND:$<COMPILE_LANGUAGE:CXX,HIP>,$<BOOL:${KVR_WERROR}>>:-Werror>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${KVR_WERROR}>>:-Werror=all-warnings>)

# kvr_add_library(<folder> <sources>...  [LINK <targets>...]): static library kvr_<folder>, alias kvr::<folder>.
function(kvr_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(kvr_${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(kvr::${name} ALIAS kvr_${name})
  set_target_properties(kvr_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(kvr_${name} PUBLIC kvr_options ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:kvr_warnings>)
  set_property(GLOBAL APPEND PROPERTY KVR_LIBRARIES kvr_${name})
endfunction()

# kvr_add_unit_test(<name> <sources>... [LINK <targets>...]): one Catch2 program kvr_unit_<name>, one ctest test unit.<name>.
function(kvr_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(kvr_unit_${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(kvr_unit_${name} PROPERTIES CUDA_STANDARD 20 HIP_STANDARD 20)
  target_link_libraries(kvr_unit_${name} PRIVATE kvr_options kvr_warnings ${ARG_LINK} Catch2::Catch2WithMain)
  add_test(NAME unit.${name} COMMAND kvr_unit_${name} "~[soak]")
  # 4: Catch2 skipped every test of the program, each with its reason.
  set_tests_properties(unit.${name} PROPERTIES LABELS "unit;quick" TIMEOUT 900 SKIP_RETURN_CODE 4)
endfunction()
