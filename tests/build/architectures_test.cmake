# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# What kernels are compiled for by default, on machines that this is not: drivers and compilers are stand-ins. The names of AMD's
# architectures are those of LLVM's AMDGPU page (major and minor decimal, stepping hexadecimal); the driver's numbers are
# major * 10000 + minor * 100 + stepping (gfx_target_version in the Linux kernel's kfd_topology).
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")
include("${KVR_ROOT}/cmake/KvrArchitectures.cmake")

set(bin "${WORK_DIR}/bin")
file(REMOVE_RECURSE "${WORK_DIR}")
file(MAKE_DIRECTORY "${bin}")
set(ENV{PATH} "${bin}:$ENV{PATH}")
set(ENV{ROCM_PATH} "${WORK_DIR}/no-rocm")

# ---- CUDA. Lists as nvcc 12.4 and 13.0 print them.
stand_in("${bin}" nvcc-12.4 "printf 'sm_%s\\n' 50 52 53 60 61 62 70 72 75 80 86 87 89 90")
stand_in("${bin}" nvcc-13.0 "printf 'sm_%s\\n' 75 80 86 87 88 89 90 100 103 110 120 121")
function(cuda_of nvcc smi expected reason)
  if(smi STREQUAL "")
    stand_in("${bin}" nvidia-smi "echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver'; exit 9")
  else()
    stand_in("${bin}" nvidia-smi "printf '${smi}'")
  endif()
  kvr_default_cuda_architectures(architectures why "${bin}/${nvcc}")
  expect("${nvcc}, GPUs '${smi}'" "${architectures}" "${expected}")
  expect_matches("${nvcc}, GPUs '${smi}', why" "${why}" "${reason}")
endfunction()
cuda_of(nvcc-13.0 "" "75-real;80-real;89-real;90-real;100-real;120" "^the usual ones .*no GPU is here$")
cuda_of(nvcc-12.4 "" "75-real;80-real;89-real;90" "no GPU is here")
cuda_of(nvcc-13.0 "9.0\\n9.0\\n" "90" "^of the GPU in this machine$")
cuda_of(nvcc-13.0 "12.0\\n8.6\\n" "86-real;120" "of the GPU")
cuda_of(nvcc-12.4 "12.0\\n" "75-real;80-real;89-real;90" "does not know this machine's GPU, 120")
cuda_of(nvcc-12.4 "12.0\\n8.9\\n" "89" "of the GPU")

# ---- AMD: numbers of real cards, and the processors that a real list also holds.
function(amd_of versions expected)
  file(REMOVE_RECURSE "${WORK_DIR}/nodes")
  set(node 0)
  foreach(version IN LISTS versions)
    file(WRITE "${WORK_DIR}/nodes/${node}/properties" "cpu_cores_count 0\nsimd_count 304\ngfx_target_version ${version}\nvendor_id 4098\n")
    math(EXPR node "${node} + 1")
  endforeach()
  kvr_local_hip_architectures(architectures "${WORK_DIR}/nodes")
  expect("AMD GPUs ${versions}" "${architectures}" "${expected}")
endfunction()
stand_in("${bin}" rocm_agent_enumerator "exit 1")
amd_of("0" "")
amd_of("" "")
amd_of("0;90010" gfx90a)           # MI210
amd_of("0;0;90402;90402" gfx942)   # two MI300X
amd_of("0;90500" gfx950)           # MI350
amd_of("0;110000;100306" "gfx1036;gfx1100")  # RX 7900 XTX beside a Ryzen's own GPU
amd_of("0;120001" gfx1201)         # RX 9070
amd_of("0;90012" gfx90c)           # stepping 12
stand_in("${bin}" rocm_agent_enumerator "printf 'gfx000\\ngfx1100\\n'")
amd_of("" gfx1100)                 # no such folder
amd_of("0;90402" gfx942)           # the driver's word comes first

# A compiler that knows gfx942 but lacks its device library, and one that has everything.
stand_in("${bin}" old-clang "case \"$*\" in *=gfx90a*|*=gfx1030*) : >probe.o ;; *) echo 'cannot find ROCm device library' >&2; exit 1 ;; esac")
stand_in("${bin}" new-clang ": >probe.o")
stand_in("${bin}" no-clang "exit 1")
stand_in("${bin}" rocm_agent_enumerator "exit 1")
set(KVR_KFD_NODES "${WORK_DIR}/nodes")
function(hip_of compiler versions expected reason)
  amd_of("${versions}" "${ARGN}")
  kvr_default_hip_architectures(architectures why "${WORK_DIR}/probe" "${bin}/${compiler}" "--rocm-path=/usr")
  expect("${compiler}, GPUs ${versions}" "${architectures}" "${expected}")
  expect_matches("${compiler}, GPUs ${versions}, why" "${why}" "${reason}")
endfunction()
hip_of(old-clang "0" gfx90a "no GPU is here" "")
hip_of(new-clang "0" "gfx90a;gfx942;gfx950;gfx1100;gfx1201" "no GPU is here" "")
hip_of(new-clang "0;110000" gfx1100 "of the GPU in this machine" gfx1100)
hip_of(old-clang "0;90402" gfx90a "it does not for this machine's GPU, gfx942" gfx942)
hip_of(new-clang "0;110000;100306" "gfx1036;gfx1100" "of the GPU" gfx1036 gfx1100)
