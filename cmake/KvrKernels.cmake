# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# How kernels, references and cases are declared, here and in projects that use kvr. Each becomes object files, so that the
# registrations in them are not dropped by the linker, and joins an interface target:
#
#   kvr_all_kernels   kernel objects of every build and fault      |  link these two to executables only:
#   kvr_all_cases     case objects                                 |  every target that links them gets the objects
#   kvr_reference     the references (static libraries)
#
# kvr_add_command() makes the executable that has all of it.

include(KvrContracted)
include(KvrCtest)
include(KvrFaults)
include(KvrStrict)

set(KVR_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}" CACHE INTERNAL "")
if(NOT KVR_INSTALLED)
  cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH kvr_root)
  set(KVR_INCLUDE_DIR "${kvr_root}" CACHE INTERNAL "")
endif()

foreach(collection kvr_all_kernels kvr_all_cases kvr_reference)
  if(NOT TARGET ${collection})
    add_library(${collection} INTERFACE)
  endif()
endforeach()
target_link_libraries(kvr_all_kernels INTERFACE kvr::machine)
target_link_libraries(kvr_all_cases INTERFACE kvr::suite kvr_reference)
if(NOT TARGET kvr::reference)
  add_library(kvr::reference ALIAS kvr_reference)
endif()

# kvr_enable_language(): for a project that adds kvr as a subdirectory, called in its top-level CMakeLists.txt. A language is enabled per
# directory, and only at file scope, so kvr cannot do it for its parent. (find_package(kvr) has done it.)
macro(kvr_enable_language)
  include("${KVR_CMAKE_DIR}/KvrLanguage.cmake")
endmacro()

# What a caller of kvr_add_<what>(name ...) wrote and nobody reads is an error.
macro(_kvr_refuse_unread call)
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${call}: '${ARG_UNPARSED_ARGUMENTS}' is not understood")
  endif()
  list(REMOVE_ITEM ARG_KEYWORDS_MISSING_VALUES INCLUDES DEFINITIONS)  # may be empty lists
  if(ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${call}: ${ARG_KEYWORDS_MISSING_VALUES} needs a value")
  endif()
endmacro()

# Absolute paths of `paths`, which are relative to the folder of the call.
function(_kvr_absolute result)
  set(absolute "")
  foreach(path IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND absolute "${path}")
  endforeach()
  set(${result} "${absolute}" PARENT_SCOPE)
endfunction()

# `given`, which must exist; without it <folder>/<name>/<name><extension> or <folder>/<name><extension>.
function(_kvr_find_source name extension result given)
  if(given)
    _kvr_absolute(source "${given}")
    if(NOT EXISTS "${source}" OR IS_DIRECTORY "${source}")
      message(FATAL_ERROR "'${name}': there is no file ${source}")
    endif()
    set(${result} "${source}" PARENT_SCOPE)
    return()
  endif()
  foreach(candidate "${name}/${name}${extension}" "${name}${extension}")
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${candidate}")
      set(${result} "${CMAKE_CURRENT_SOURCE_DIR}/${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR
    "'${name}': neither ${name}/${name}${extension} nor ${name}${extension} exists in ${CMAKE_CURRENT_SOURCE_DIR}")
endfunction()

# `given`, which must exist; without any, <name>.cpp as _kvr_find_source() finds it.
function(_kvr_find_sources name result)
  set(sources "")
  foreach(given IN LISTS ARGN)
    _kvr_find_source(${name} .cpp source "${given}")
    list(APPEND sources "${source}")
  endforeach()
  if(NOT sources)
    _kvr_find_source(${name} .cpp sources "")
  endif()
  set(${result} "${sources}" PARENT_SCOPE)
endfunction()

# An object library whose headers are found from this project's root and from kvr's.
function(_kvr_add_objects target)
  add_library(${target} OBJECT ${ARGN})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE kvr::options)
  if(PROJECT_NAME STREQUAL "kvr")  # other projects choose their own warnings
    target_link_libraries(${target} PRIVATE kvr_warnings)
  endif()
endfunction()

function(_kvr_compile_kernel target build wrapper)
  _kvr_add_objects(${target} "${wrapper}")
  set_target_properties(${target} PROPERTIES
    CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON HIP_STANDARD 20 HIP_STANDARD_REQUIRED ON HIP_EXTENSIONS OFF)
  target_compile_definitions(${target} PRIVATE KVR_BUILD=${build} "KVR_BUILD_NAME=\"${build}\"")
  if(KVR_PLATFORM STREQUAL "cpu")
    string(REGEX MATCH "[0-9]+" warp_size ${build})
    target_compile_definitions(${target} PRIVATE KVR_SIMT_WARP_SIZE=${warp_size})
    target_link_libraries(${target} PRIVATE kvr::simt)
  elseif(KVR_PLATFORM STREQUAL "cuda")
    target_compile_options(${target} PRIVATE --expt-relaxed-constexpr)
  endif()
endfunction()

function(_kvr_add_kernel_objects target build wrapper)
  _kvr_compile_kernel(${target} ${build} "${wrapper}")
  target_sources(kvr_all_kernels INTERFACE $<TARGET_OBJECTS:${target}>)
endfunction()

# An object that a rule of this folder makes joins every program that links `target`. An imported library, so that the libraries
# it needs (the last arguments) are linked behind it; `rule` names the rule.
function(_kvr_link_object target rule object)
  add_custom_target(${rule} DEPENDS "${object}")
  add_library(${rule}_object UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${rule}_object PROPERTIES IMPORTED_LOCATION "${object}" INTERFACE_LINK_LIBRARIES "${ARGN}")
  add_dependencies(${rule}_object ${rule})
  target_link_libraries(${target} INTERFACE ${rule}_object)
endfunction()

# Narrows the list in the variable `which`, of builds, to those that a kernel for warps of `warp_size` lanes has, and sets `hip_result` to
# the HIP architectures that it is compiled for: RDNA's are named gfx10 and up and have warps of 32 lanes, all others of 64.
function(_kvr_limit_builds warp_size which hip_result)
  set(builds ${${which}})
  set(kept ${CMAKE_HIP_ARCHITECTURES})
  if(KVR_PLATFORM STREQUAL "cpu")
    list(FILTER builds INCLUDE REGEX "^warp${warp_size}")
  elseif(KVR_PLATFORM STREQUAL "cuda" AND NOT warp_size EQUAL 32)
    set(builds "")
  elseif(KVR_PLATFORM STREQUAL "hip")
    if(warp_size EQUAL 32)
      list(FILTER kept INCLUDE REGEX "^gfx1[0-9]")
    else()
      list(FILTER kept EXCLUDE REGEX "^gfx1[0-9]")
    endif()
    if(NOT kept)
      set(builds "")
    endif()
  endif()
  set(${which} "${builds}" PARENT_SCOPE)
  set(${hip_result} "${kept}" PARENT_SCOPE)
endfunction()

# kvr_add_kernel(<name> [SOURCE <file>] [INCLUDES <folder>...] [DEFINITIONS <d>...] [WARP_SIZE 32|64] [FAULTS <file>]):
# compiles <name>/<name>.cu once for every build of this platform (cuda; hip; warp32 and warp64, and these two with contraction and in
# strict mode), with KVR_BUILD as its namespace, and the faults of <name>/faults.txt (KvrFaults.cmake) likewise, all of one build in one
# object. <name> is what KVR_REGISTER_KERNEL registers.
#
#   SOURCE        the kernel's file, wherever it is; one that is spread over several includes the others
#   INCLUDES      further folders for its headers, in every build, strict, contracted and faulty ones included
#   DEFINITIONS   likewise, NAME or NAME=VALUE
#   WARP_SIZE     it is made for warps of so many lanes: there are no other builds, and elsewhere its cases are `unsupported`
#   FAULTS        its faults, if not in faults.txt beside the source
#
# Files and folders are relative to the folder of the call.
function(kvr_add_kernel name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "SOURCE;WARP_SIZE;FAULTS" "INCLUDES;DEFINITIONS")
  _kvr_refuse_unread("kvr_add_kernel(${name})")
  if(NOT DEFINED CMAKE_${KVR_KERNEL_LANGUAGE}_COMPILE_OBJECT)
    message(FATAL_ERROR
      "kvr_add_kernel(${name}): ${KVR_KERNEL_LANGUAGE} is not enabled here; call kvr_enable_language() in the top-level CMakeLists.txt")
  endif()
  if(NOT "${ARG_WARP_SIZE}" MATCHES "^(|32|64)$")
    message(FATAL_ERROR "kvr_add_kernel(${name}): WARP_SIZE is '${ARG_WARP_SIZE}'; it must be 32 or 64")
  endif()
  _kvr_find_source(${name} .cu source "${ARG_SOURCE}")
  cmake_path(GET source PARENT_PATH folder)
  _kvr_absolute(includes ${ARG_INCLUDES})
  list(TRANSFORM ARG_DEFINITIONS REPLACE "^-D" "" OUTPUT_VARIABLE definitions)
  set(kernel_builds ${KVR_KERNEL_BUILDS})
  set(contracted_builds ${KVR_CONTRACTED_BUILDS})
  set(strict_builds ${KVR_STRICT_BUILDS})
  set(architectures "")
  if(ARG_WARP_SIZE)
    foreach(builds kernel_builds contracted_builds strict_builds)
      _kvr_limit_builds(${ARG_WARP_SIZE} ${builds} architectures)
    endforeach()
  endif()
  set(targets "")
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  # What is compiled is a one-line wrapper, because a file's language cannot differ per target, and HIP has an extension of its own.
  set(extension_CXX cpp)
  set(extension_CUDA cu)
  set(extension_HIP hip)
  set(extension ${extension_${KVR_KERNEL_LANGUAGE}})

  foreach(build IN LISTS kernel_builds)
    set(wrapper "${generated}/${build}/${name}.${extension}")
    kvr_write_if_different("${wrapper}" "#include \"${source}\"\n")
    _kvr_add_kernel_objects(kvr_kernel_${name}_${build} ${build} "${wrapper}")
    list(APPEND targets kvr_kernel_${name}_${build})
    if(KVR_PLATFORM STREQUAL "cpu")
      target_compile_options(kvr_kernel_${name}_${build} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O3>)
    endif()
  endforeach()

  foreach(build IN LISTS contracted_builds)
    set(wrapper "${generated}/${build}/${name}.cpp")
    kvr_write_if_different("${wrapper}" "#include \"${source}\"\n")
    _kvr_compile_kernel(kvr_contracted_${name}_${build} ${build} "${wrapper}")
    list(APPEND targets kvr_contracted_${name}_${build})
    kvr_contract(kvr_contracted_${name}_${build})
    kvr_make_local(object "${generated}/${build}/${name}" kvr_contracted_${name}_${build})
    _kvr_link_object(kvr_all_kernels kvr_kernel_${name}_${build} "${object}" kvr::simt)
  endforeach()

  foreach(build IN LISTS strict_builds)
    set(wrapper "${generated}/${build}/${name}.cpp")
    kvr_write_if_different("${wrapper}" "#include \"${source}\"\n")
    kvr_add_strict_object(object "${generated}/${build}/${name}" "${wrapper}" ${build} INCLUDES ${includes} DEFINITIONS ${definitions})
    _kvr_link_object(kvr_all_kernels kvr_kernel_${name}_${build} "${object}" kvr::strict)
  endforeach()

  if(ARG_WARP_SIZE)
    kvr_write_if_different("${generated}/warp_size.cpp" "#include \"kernels/common/registry_types.h\"
namespace {
[[maybe_unused]] const bool limited = kvr::limit_kernel_to_warps(\"${name}\", ${ARG_WARP_SIZE});
}
")
    _kvr_add_objects(kvr_kernel_${name}_warp_size "${generated}/warp_size.cpp")
    target_sources(kvr_all_kernels INTERFACE $<TARGET_OBJECTS:kvr_kernel_${name}_warp_size>)
  endif()

  set(faults_file "${folder}/faults.txt")
  if(ARG_FAULTS)
    _kvr_find_source(${name} .txt faults_file "${ARG_FAULTS}")
  endif()
  if(KVR_BUILD_FAULTS AND EXISTS "${faults_file}")
    _kvr_add_faults()
  endif()

  foreach(target IN LISTS targets)
    target_include_directories(${target} PRIVATE ${includes})
    target_compile_definitions(${target} PRIVATE ${definitions})
    if(architectures)
      set_target_properties(${target} PROPERTIES HIP_ARCHITECTURES "${architectures}")
    endif()
  endforeach()
endfunction()

# The faults of the kernel that kvr_add_kernel() is at, and with its variables.
macro(_kvr_add_faults)
  kvr_generate_faults("${source}" "${faults_file}" "${generated}/faults" faults)
  # Headers come first, in the build's own namespace: their include guards leave only the kernel's text to be repeated. Each
  # fault's namespace lies inside the build's, so that it still sees them.
  file(STRINGS "${source}" headers REGEX "^[ \t]*#[ \t]*include")
  list(JOIN headers "\n" headers)
  foreach(build IN LISTS kernel_builds)
    set(text "${headers}\n")
    foreach(fault IN LISTS faults)
      string(APPEND text "
#undef KVR_BUILD
#undef KVR_FAULT
#define KVR_BUILD ${build}::fault_${fault}
#define KVR_FAULT \"${fault}\"
#include \"${generated}/faults/${fault}.inc\"
")
    endforeach()
    set(wrapper "${generated}/${build}/${name}_faults.${extension}")
    kvr_write_if_different("${wrapper}" "${text}")
    _kvr_add_kernel_objects(kvr_faults_${name}_${build} ${build} "${wrapper}")
    list(APPEND targets kvr_faults_${name}_${build})
    target_include_directories(kvr_faults_${name}_${build} PRIVATE "${folder}")  # headers beside the kernel, which #include finds there
    # A fault may leave a variable unused; nobody debugs it; and how fast it runs matters less than how long it compiles.
    target_compile_options(kvr_faults_${name}_${build} PRIVATE -w $<$<COMPILE_LANGUAGE:CXX>:-g0 $<IF:$<CXX_COMPILER_ID:GNU>,-Og,-O1>>)
  endforeach()
endmacro()

# kvr_add_reference(<name> [SOURCES <file>...] [INCLUDES <folder>...] [DEFINITIONS <d>...]): static library kvr_reference_<name> of
# <name>.cpp, or of SOURCES.
function(kvr_add_reference name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;INCLUDES;DEFINITIONS")
  _kvr_refuse_unread("kvr_add_reference(${name})")
  _kvr_find_sources(${name} sources ${ARG_SOURCES})
  _kvr_absolute(includes ${ARG_INCLUDES})
  add_library(kvr_reference_${name} STATIC ${sources})
  target_include_directories(kvr_reference_${name} PRIVATE "${PROJECT_SOURCE_DIR}" ${includes})
  target_compile_definitions(kvr_reference_${name} PRIVATE ${ARG_DEFINITIONS})
  target_link_libraries(kvr_reference_${name} PUBLIC kvr::numeric)
  target_compile_options(kvr_reference_${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O3>)
  if(PROJECT_NAME STREQUAL "kvr")
    target_link_libraries(kvr_reference_${name} PRIVATE kvr_warnings)
  endif()
  target_link_libraries(kvr_reference INTERFACE kvr_reference_${name})
endfunction()

# kvr_add_cases(<name> [SOURCES <file>...] [INCLUDES <folder>...] [DEFINITIONS <d>...]): the case family of <name>.cpp, or of SOURCES.
function(kvr_add_cases name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;INCLUDES;DEFINITIONS")
  _kvr_refuse_unread("kvr_add_cases(${name})")
  _kvr_find_sources(${name} sources ${ARG_SOURCES})
  _kvr_absolute(includes ${ARG_INCLUDES})
  _kvr_add_objects(kvr_cases_${name} ${sources})
  target_include_directories(kvr_cases_${name} PRIVATE ${includes})
  target_compile_definitions(kvr_cases_${name} PRIVATE ${ARG_DEFINITIONS})
  target_link_libraries(kvr_cases_${name} PRIVATE kvr::suite)
  target_sources(kvr_all_cases INTERFACE $<TARGET_OBJECTS:kvr_cases_${name}>)
endfunction()

# The file `path` of this project, as the program's definitions name it: below PROJECT_SOURCE_DIR where it lies there, else absolute.
function(_kvr_project_file result path)
  set(${result} "" PARENT_SCOPE)
  if(path STREQUAL "")
    return()
  endif()
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" NORMALIZE)
  set(root "${PROJECT_SOURCE_DIR}")
  cmake_path(IS_PREFIX root "${path}" NORMALIZE inside)
  if(inside)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${root}")
  endif()
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

# kvr_add_command(<target> [POLICIES <file>] [LEDGER <file>]): the kvr command with every kernel, fault and case declared so far or
# later. Files are relative to PROJECT_SOURCE_DIR.
#
#   POLICIES   the policy table it judges by; without one it asks for --policy-file
#   LEDGER     the ledger of the worst ever seen; `<target> check --update-ledger` makes the file, without LEDGER none is used
function(kvr_add_command target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "POLICIES;LEDGER" "")
  _kvr_refuse_unread("kvr_add_command(${target})")
  _kvr_project_file(policies "${ARG_POLICIES}")
  _kvr_project_file(ledger "${ARG_LEDGER}")
  cmake_path(ABSOLUTE_PATH policies BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE table)
  if(NOT policies STREQUAL "" AND NOT EXISTS "${table}")
    message(FATAL_ERROR "kvr_add_command(${target}): POLICIES: there is no file ${table}")
  endif()
  add_executable(${target} "${KVR_INCLUDE_DIR}/harness/cli/main.cpp")
  target_link_libraries(${target} PRIVATE kvr::cli kvr_all_kernels kvr_all_cases)
  set_target_properties(${target} PROPERTIES KVR_PROJECT_DEFINITIONS
    "KVR_PROJECT_COMMAND=\"${target}\";KVR_PROJECT_ROOT=\"${PROJECT_SOURCE_DIR}\";KVR_PROJECT_POLICIES=\"${policies}\";KVR_PROJECT_LEDGER=\"${ledger}\"")
  kvr_use_files_of(${target} ${target})
endfunction()

# kvr_use_files_of(<target> <command>): the program <target>, which has a main() of its own, has the command's policy table and ledger
# (harness/cli/this_project.h).
function(kvr_use_files_of target command)
  get_target_property(definitions ${command} KVR_PROJECT_DEFINITIONS)
  if(NOT definitions)
    message(FATAL_ERROR "'${command}' is not a target of kvr_add_command()")
  endif()
  target_compile_definitions(${target} PRIVATE ${definitions})
endfunction()
