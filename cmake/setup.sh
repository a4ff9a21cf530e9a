#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Installs what kvr needs and this machine lacks, and nothing else. Run it again at any time: a second run finds nothing to do.
# It changes the system through its package manager only (with sudo when not root); everything else stays in this clone.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: cmake/setup.sh [--platform cpu|cuda|hip]... [--strict] [--dev] [--prefix DIR]

  --platform P   what to build for: cpu (default), cuda, hip; may be given several times
  --strict       also clang, which the strict machines of platform cpu need (preset ci-cpu has them)
  --dev          also clang-format and clang-tidy
  --prefix DIR   also gather every library kvr links, with its headers and CMake package, into DIR: a folder of a few MB that can be
                 copied to a machine without a network (same distribution) and used there with -DCMAKE_PREFIX_PATH=DIR
  --help         this text

Supported: Debian 12, Debian 13, Ubuntu 24.04.
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps="$root/.deps"  # what the distribution does not package; CMake looks here by itself

exec 3>&2  # the terminal: what goes wrong is said there, whatever is redirected at the time
say() { printf 'setup: %s\n' "$*"; }
fail() {
  trap - ERR
  printf 'setup.sh: %s\n' "$1" >&3
  exit "${2:-1}"
}
set -E
trap 'status=$?; [ $BASH_SUBSHELL = 0 ] || exit $status; fail "line $LINENO failed, exit status $status: $BASH_COMMAND"' ERR

platforms=""
strict=no
dev=no
prefix=""
while [ $# -gt 0 ]; do
  case $1 in
    --platform)
      case ${2-} in
        cpu | cuda | hip) platforms="$platforms $2" ;;
        *) fail "--platform is '${2-}'; it must be cpu, cuda or hip" 2 ;;
      esac
      shift
      ;;
    --strict) strict=yes ;;
    --dev) dev=yes ;;
    --prefix)
      [ -n "${2-}" ] || fail "--prefix needs a folder" 2
      prefix=$2
      shift
      ;;
    --help)
      usage
      exit 0
      ;;
    *) fail "unknown option '$1' (--help lists them)" 2 ;;
  esac
  shift
done
[ -n "$platforms" ] || platforms=cpu

wants() { case " $platforms " in *" $1 "*) true ;; *) false ;; esac }

os_release=${KVR_OS_RELEASE:-/etc/os-release}  # another file for tests of this script
distribution() {
  [ -r "$os_release" ] || return 0
  (. "$os_release" && printf '%s-%s' "${ID-}" "${VERSION_ID-}")
}
distro=$(distribution)
case $distro in
  debian-12 | debian-13 | ubuntu-24.04) ;;
  *) fail "unsupported distribution '${distro:-unknown}'; supported: Debian 12, Debian 13, Ubuntu 24.04 (elsewhere, install the libraries of cmake/KvrDependencies.cmake yourself)" ;;
esac

if [ -n "$prefix" ]; then
  mkdir -p "$prefix" 2>/dev/null && [ -w "$prefix" ] || fail "--prefix: cannot write to '$prefix'"
  prefix=$(cd "$prefix" && pwd)
fi

# ---------------------------------------------------------------- packages

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

# Tools count as present wherever they come from; libraries are asked of the package manager.
newer_than() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | sed -n 1p)" = "$1" ]; }
has_cmake() { command -v cmake >/dev/null && newer_than 3.25 "$(cmake --version | sed -n 's/^cmake version //p')"; }

libraries="libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libfmt-dev libtbb-dev libboost-context-dev librandom123-dev libbenchmark-dev"
[ "$distro" = debian-12 ] || libraries="$libraries catch2"

missing=""
want_package() { installed "$1" || missing="$missing $1"; }
want_tool() { command -v "$1" >/dev/null || missing="$missing $2"; }

has_cmake || want_package cmake
want_tool ninja ninja-build
want_tool g++ g++
for package in $libraries; do want_package "$package"; done

has_rocm() { [ -e "${ROCM_PATH:-/opt/rocm}/lib/cmake/hip-lang/hip-lang-config.cmake" ]; }
if wants hip && ! has_rocm; then
  for package in hipcc libamdhip64-dev libamd-comgr-dev libhsa-runtime-dev; do want_package "$package"; done
fi
# Any clang++ from 14 on, as cmake/KvrStrict.cmake looks for it.
has_clang() {
  local name
  for name in clang++ clang++-{22..14}; do
    if command -v "$name" >/dev/null && newer_than 14 "$("$name" -dumpversion)"; then return 0; fi
  done
  return 1
}
if [ $strict = yes ]; then
  has_clang || want_package clang
fi
if [ $dev = yes ]; then
  want_tool clang-format clang-format
  want_tool clang-tidy clang-tidy
fi
if wants cuda; then
  nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
  [ -x "$nvcc" ] || fail "no CUDA toolkit: install NVIDIA's CUDA 12 or newer (nvcc on PATH or in /usr/local/cuda/bin) and run this again"
  cuda=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
  newer_than 12.0 "$cuda" || fail "CUDA $cuda in $nvcc is too old: kvr is C++20, which nvcc takes from 12.0 on"
  say "CUDA $cuda: $nvcc"
fi

if [ -n "$missing" ]; then
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    fail "root is needed to install packages, and there is no sudo; as root: apt-get install$missing"
  say "installing:$missing"
  log=$(mktemp)
  if ! { as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    fail "apt-get could not install:$missing (whole log: $log)"
  fi
  rm -f "$log"
else
  say "packages: nothing to install"
fi

# ---------------------------------------------------------------- Catch2 3 on Debian 12

# Debian 12 packages version 2. Debian 13's source package is fetched from the mirror this system already uses, checked
# against the archive keys it already has, and built into .deps; the system's own package sources are not touched.
catch2_from_next_release() {
  local work mirror source
  work=$(mktemp -d)
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Release: bookworm' | sed -n 1p)
  [ -n "$mirror" ] || fail "no package source for Debian 12 (bookworm) is configured, so Catch2 3 cannot be fetched the same way"
  say "fetching Catch2 3 as source from ${mirror}"
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/source"
  cat >"$work/sources.sources" <<TEXT
Types: deb-src
URIs: $mirror
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
TEXT
  local apt=(apt-get -q -oDir::Etc::SourceList="$work/sources.sources" -oDir::Etc::SourceParts=/nonexistent
    -oDir::State::Lists="$work/lists" -oDir::Cache="$work/cache" -oAPT::Sandbox::User="$(id -un)" -oDebug::NoLocking=1)
  if ! (cd "$work" && "${apt[@]}" update && "${apt[@]}" source --download-only catch2) >"$work/log" 2>&1; then
    tail -n 20 "$work/log" >&2
    fail "Catch2's source package could not be fetched (whole log: $work/log)"
  fi
  source=$(ls "$work"/catch2_*.orig.tar.*)
  tar -xf "$source" -C "$work/source" --strip-components=1
  say "building $(basename "$source" | sed 's/\.orig.*//; s/_/ /') into .deps"
  if ! { cmake -S "$work/source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=20 -DBUILD_TESTING=OFF \
    -DCATCH_INSTALL_DOCS=OFF -DCMAKE_INSTALL_PREFIX="$deps" -DCMAKE_INSTALL_LIBDIR=lib &&
    cmake --build "$work/build" && cmake --install "$work/build"; } >"$work/log" 2>&1; then
    tail -n 20 "$work/log" >&2
    fail "Catch2 did not build (whole log: $work/log)"
  fi
  rm -rf "$work"
}

if [ "$distro" = debian-12 ]; then
  if grep -qs 'PACKAGE_VERSION "3\.' "$deps/lib/cmake/Catch2/Catch2ConfigVersion.cmake"; then
    say "Catch2 3: already in .deps"
  else
    catch2_from_next_release
  fi
fi

# ---------------------------------------------------------------- the relocatable folder

# Copies files of the system, given on standard input, to the same place below $prefix instead of /usr. A link to a library brings what
# it points to.
copy_below_prefix() {
  local path target
  while read -r path; do
    [ -e "$path" ] && [ ! -d "$path" ] || continue
    target=$prefix/${path#/usr/}
    mkdir -p "$(dirname "$target")"
    cp -P "$path" "$target"
    if [ -L "$path" ]; then
      path=$(readlink -f "$path")
      cp "$path" "$(dirname "$target")/"
      # Programs look for the library by its soname.
      local soname
      soname=$(objdump -p "$path" 2>/dev/null | awk '$1 == "SONAME" { print $2 }')
      [ -z "$soname" ] || [ "$soname" = "$(basename "$path")" ] || ln -sf "$(basename "$path")" "$(dirname "$target")/$soname"
    fi
  done
}

gather() {
  local package boost
  for package in $libraries; do
    say "gathering $package"
    case $package in
      libboost-context-dev)  # an empty package that names the versioned one
        boost=$(dpkg-query -W -f '${Depends}' "$package" | sed 's/[ ,(].*//')
        dpkg -L "$boost" | grep '^/usr/lib/' | grep -v pkgconfig | copy_below_prefix
        dpkg -L "$(dpkg-query -W -f '${Depends}' "$boost" | grep -o 'libboost[0-9.]*-dev' | sed -n 1p)" |
          grep -E '^/usr/lib/.*/cmake/(Boost-|BoostDetectToolset|boost_headers)' | copy_below_prefix
        # Of 15,000 headers, those that Boost.Context reaches.
        printf '#include <boost/%s>\n' version.hpp context/fiber.hpp context/fixedsize_stack.hpp context/pooled_fixedsize_stack.hpp \
          context/protected_fixedsize_stack.hpp context/preallocated.hpp context/detail/fcontext.hpp |
          g++ -std=c++20 -M -x c++ - | tr ' \\' '\n\n' | grep '^/usr/include/boost/' | copy_below_prefix
        ;;
      *) dpkg -L "$package" | grep -E '^/usr/(include|lib|share/cmake|lib/cmake)/' | grep -v pkgconfig | copy_below_prefix ;;
    esac
  done
  [ ! -d "$deps" ] || cp -R "$deps/." "$prefix/"
  say "$prefix: $(du -sh "$prefix" | cut -f 1)"
}

[ -z "$prefix" ] || gather

preset=${platforms##* }
[ "$preset" = cpu ] && [ $strict = yes ] && preset=ci-cpu
say "done; next: cmake --workflow --preset $preset"
