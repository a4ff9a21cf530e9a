# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Which GPU architectures kernels are compiled for when nobody says: those of the GPUs in this machine, and where there is none, the ones
# that kernels are usually run on, as far as the compiler here knows them. What is tested is what runs here, and one architecture compiles
# five times faster than the list; code for a card elsewhere is asked for with CMAKE_CUDA_ARCHITECTURES or CMAKE_HIP_ARCHITECTURES.
# Only file and process commands: the functions are tested as scripts.

# Turing, Ampere, Ada, Hopper, Blackwell for servers and for desktops. Code for 8.0 also runs on 8.6, for 10.0 on 10.3, for 12.0 on 12.1.
set(KVR_USUAL_CUDA_ARCHITECTURES 75 80 89 90 100 120)
# MI200, MI300, MI350, RX 7900, RX 9070.
set(KVR_USUAL_HIP_ARCHITECTURES gfx90a gfx942 gfx950 gfx1100 gfx1201)

# What the compiler has of `wanted`, in that order.
function(_kvr_known result known)
  set(kept "")
  foreach(architecture IN LISTS ARGN)
    if(architecture IN_LIST known)
      list(APPEND kept ${architecture})
    endif()
  endforeach()
  set(${result} "${kept}" PARENT_SCOPE)
endfunction()

# kvr_local_cuda_architectures(<result>): 90 for compute capability 9.0, each once; empty without a GPU or its driver.
function(kvr_local_cuda_architectures result)
  set(${result} "" PARENT_SCOPE)
  find_program(kvr_nvidia_smi nvidia-smi NO_CACHE)
  if(NOT kvr_nvidia_smi)
    return()
  endif()
  execute_process(COMMAND "${kvr_nvidia_smi}" --query-gpu=compute_cap --format=csv,noheader
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_QUIET)
  if(NOT status EQUAL 0)
    return()
  endif()
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${output}")
  list(REMOVE_DUPLICATES capabilities)
  list(SORT capabilities COMPARE NATURAL)
  list(TRANSFORM capabilities REPLACE "\\." "")
  set(${result} "${capabilities}" PARENT_SCOPE)
endfunction()

# kvr_default_cuda_architectures(<result> <why> <nvcc>): for CMAKE_CUDA_ARCHITECTURES, and a line that says why. The newest architecture
# also gets PTX, which the driver compiles for cards that are newer still; a card at hand has code of its own, because a driver older than
# the toolkit takes no PTX from it.
function(kvr_default_cuda_architectures result why nvcc)
  execute_process(COMMAND "${nvcc}" --list-gpu-code RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_QUIET)
  string(REGEX MATCHALL "sm_[0-9]+" known "${output}")
  list(TRANSFORM known REPLACE "sm_" "")
  kvr_local_cuda_architectures(local)
  _kvr_known(chosen "${known}" ${local})
  set(${why} "of the GPU in this machine" PARENT_SCOPE)
  if(NOT chosen)
    _kvr_known(chosen "${known}" ${KVR_USUAL_CUDA_ARCHITECTURES})
    set(${why} "the usual ones that ${nvcc} knows; no GPU is here" PARENT_SCOPE)
    if(local)
      set(${why} "the usual ones that ${nvcc} knows; it does not know this machine's GPU, ${local}" PARENT_SCOPE)
    endif()
  endif()
  if(NOT chosen)
    message(FATAL_ERROR "'${nvcc} --list-gpu-code' names no architecture that kvr knows: set CMAKE_CUDA_ARCHITECTURES")
  endif()
  list(POP_BACK chosen newest)
  list(TRANSFORM chosen APPEND "-real")
  set(${result} ${chosen} ${newest} PARENT_SCOPE)
endfunction()

# kvr_local_hip_architectures(<result> [<folder>]): gfx90a for the version 90010 that the kernel driver lists, each once; empty without a
# GPU or its driver. The folder is for tests. Where the driver has no such folder (WSL), rocm_agent_enumerator is asked.
function(kvr_local_hip_architectures result)
  set(nodes /sys/class/kfd/kfd/topology/nodes ${ARGN})
  list(GET nodes -1 nodes)
  set(found "")
  file(GLOB files "${nodes}/*/properties")
  foreach(file IN LISTS files)
    file(STRINGS "${file}" lines REGEX "^gfx_target_version [1-9]")  # a processor's is 0
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "[^0-9]" "" version "${line}")
      math(EXPR major "${version} / 10000")
      math(EXPR minor "${version} / 100 % 100")
      math(EXPR stepping "${version} % 100")
      string(SUBSTRING "0123456789abcdef" ${minor} 1 minor)
      string(SUBSTRING "0123456789abcdef" ${stepping} 1 stepping)
      list(APPEND found gfx${major}${minor}${stepping})
    endforeach()
  endforeach()
  find_program(kvr_enumerator rocm_agent_enumerator NO_CACHE PATHS "${CMAKE_HIP_COMPILER_ROCM_ROOT}/bin" "$ENV{ROCM_PATH}/bin" /opt/rocm/bin)
  if(NOT found AND kvr_enumerator)
    execute_process(COMMAND "${kvr_enumerator}" -t GPU OUTPUT_VARIABLE output ERROR_QUIET)
    string(REGEX MATCHALL "gfx[1-9][0-9a-f]+" found "${output}")  # gfx000 is a processor
  endif()
  list(REMOVE_DUPLICATES found)
  list(SORT found COMPARE NATURAL)
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# kvr_compilable_hip_architectures(<result> <folder> <compiler> <flags> <architectures>...): those of the architectures that a kernel
# compiles for. A compiler may know an architecture that its device libraries lack, so each is tried. `folder` is for scratch files.
function(kvr_compilable_hip_architectures result folder compiler flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  file(WRITE "${folder}/probe.hip" "extern \"C\" __attribute__((global)) void probe() {}\n")
  set(known "")
  foreach(architecture IN LISTS ARGN)
    execute_process(
      COMMAND "${compiler}" ${flags} -x hip --offload-arch=${architecture} --cuda-device-only -c probe.hip -o probe.o
      WORKING_DIRECTORY "${folder}" RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE complaint)
    file(WRITE "${folder}/${architecture}.log" "${complaint}")
    if(status EQUAL 0)
      list(APPEND known ${architecture})
    endif()
  endforeach()
  set(${result} "${known}" PARENT_SCOPE)
endfunction()

# kvr_default_hip_architectures(<result> <why> <folder> <compiler> <flags>): for CMAKE_HIP_ARCHITECTURES, and a line that says why.
function(kvr_default_hip_architectures result why folder compiler flags)
  kvr_local_hip_architectures(local ${KVR_KFD_NODES})
  kvr_compilable_hip_architectures(chosen "${folder}" "${compiler}" "${flags}" ${local})
  set(reason "of the GPU in this machine")
  if(local AND NOT chosen)
    set(reason "the usual ones that ${compiler} compiles for; it does not for this machine's GPU, ${local}")
  elseif(NOT chosen)
    set(reason "the usual ones that ${compiler} compiles for; no GPU is here")
  endif()
  if(NOT chosen)
    kvr_compilable_hip_architectures(chosen "${folder}" "${compiler}" "${flags}" ${KVR_USUAL_HIP_ARCHITECTURES})
  endif()
  if(NOT chosen)
    message(FATAL_ERROR "${compiler} compiles for none of ${KVR_USUAL_HIP_ARCHITECTURES} (why: ${folder}): set CMAKE_HIP_ARCHITECTURES")
  endif()
  set(${result} "${chosen}" PARENT_SCOPE)
  set(${why} "${reason}" PARENT_SCOPE)
endfunction()
