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

# <folder>/<name>/<name><extension> or <folder>/<name><extension>.
function(_kvr_find_source name extension result)
  foreach(candidate "${name}/${name}${extension}" "${name}${extension}")
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${candidate}")
      set(${result} "${CMAKE_CURRENT_SOURCE_DIR}/${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR
    "'${name}': neither ${name}/${name}${extension} nor ${name}${extension} exists in ${CMAKE_CURRENT_SOURCE_DIR}")
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

# kvr_add_kernel(<name>): compiles <name>/<name>.cu once for every build of this platform (cuda; hip; warp32 and warp64,
# and these two with contraction and in strict mode),
# with KVR_BUILD as its namespace, and the faults of <name>/faults.txt (KvrFaults.cmake) likewise, all of one build in one object.
function(kvr_add_kernel name)
  if(NOT DEFINED CMAKE_${KVR_KERNEL_LANGUAGE}_COMPILE_OBJECT)
    message(FATAL_ERROR
      "kvr_add_kernel(${name}): ${KVR_KERNEL_LANGUAGE} is not enabled here; call kvr_enable_language() in the top-level CMakeLists.txt")
  endif()
  _kvr_find_source(${name} .cu source)
  cmake_path(GET source PARENT_PATH folder)
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/${name}")
  # What is compiled is a one-line wrapper, because a file's language cannot differ per target, and HIP has an extension of its own.
  set(extension_CXX cpp)
  set(extension_CUDA cu)
  set(extension_HIP hip)
  set(extension ${extension_${KVR_KERNEL_LANGUAGE}})

  foreach(build IN LISTS KVR_KERNEL_BUILDS)
    set(wrapper "${generated}/${build}/${name}.${extension}")
    kvr_write_if_different("${wrapper}" "#include \"${source}\"\n")
    _kvr_add_kernel_objects(kvr_kernel_${name}_${build} ${build} "${wrapper}")
    if(KVR_PLATFORM STREQUAL "cpu")
      target_compile_options(kvr_kernel_${name}_${build} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O3>)
    endif()
  endforeach()

  foreach(build IN LISTS KVR_CONTRACTED_BUILDS)
    set(wrapper "${generated}/${build}/${name}.cpp")
    kvr_write_if_different("${wrapper}" "#include \"${source}\"\n")
    _kvr_compile_kernel(kvr_contracted_${name}_${build} ${build} "${wrapper}")
    kvr_contract(kvr_contracted_${name}_${build})
    kvr_make_local(object "${generated}/${build}/${name}" kvr_contracted_${name}_${build})
    _kvr_link_object(kvr_all_kernels kvr_kernel_${name}_${build} "${object}" kvr::simt)
  endforeach()

  foreach(build IN LISTS KVR_STRICT_BUILDS)
    set(wrapper "${generated}/${build}/${name}.cpp")
    kvr_write_if_different("${wrapper}" "#include \"${source}\"\n")
    kvr_add_strict_object(object "${generated}/${build}/${name}" "${wrapper}" ${build})
    _kvr_link_object(kvr_all_kernels kvr_kernel_${name}_${build} "${object}" kvr::strict)
  endforeach()

  set(faults_file "${folder}/faults.txt")
  if(NOT KVR_BUILD_FAULTS OR NOT EXISTS "${faults_file}")
    return()
  endif()
  kvr_generate_faults("${source}" "${faults_file}" "${generated}/faults" faults)
  # Headers come first, in the build's own namespace: their include guards leave only the kernel's text to be repeated. Each
  # fault's namespace lies inside the build's, so that it still sees them.
  file(STRINGS "${source}" headers REGEX "^[ \t]*#[ \t]*include")
  list(JOIN headers "\n" headers)
  foreach(build IN LISTS KVR_KERNEL_BUILDS)
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
    # A fault may leave a variable unused; nobody debugs it; and how fast it runs matters less than how long it compiles.
    target_compile_options(kvr_faults_${name}_${build} PRIVATE -w $<$<COMPILE_LANGUAGE:CXX>:-g0 $<IF:$<CXX_COMPILER_ID:GNU>,-Og,-O1>>)
  endforeach()
endfunction()

# kvr_add_reference(<name>): static library kvr_reference_<name> of <name>.cpp.
function(kvr_add_reference name)
  _kvr_find_source(${name} .cpp source)
  add_library(kvr_reference_${name} STATIC "${source}")
  target_include_directories(kvr_reference_${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(kvr_reference_${name} PUBLIC kvr::numeric)
  target_compile_options(kvr_reference_${name} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O3>)
  if(PROJECT_NAME STREQUAL "kvr")
    target_link_libraries(kvr_reference_${name} PRIVATE kvr_warnings)
  endif()
  target_link_libraries(kvr_reference INTERFACE kvr_reference_${name})
endfunction()

# kvr_add_cases(<name>): the case family of <name>.cpp.
function(kvr_add_cases name)
  _kvr_find_source(${name} .cpp source)
  _kvr_add_objects(kvr_cases_${name} "${source}")
  target_link_libraries(kvr_cases_${name} PRIVATE kvr::suite)
  target_sources(kvr_all_cases INTERFACE $<TARGET_OBJECTS:kvr_cases_${name}>)
endfunction()

# kvr_add_command(<target>): the kvr command with every kernel, fault and case declared so far or later.
function(kvr_add_command target)
  add_executable(${target} "${KVR_INCLUDE_DIR}/harness/cli/main.cpp")
  target_link_libraries(${target} PRIVATE kvr::cli kvr_all_kernels kvr_all_cases)
endfunction()
