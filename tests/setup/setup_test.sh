#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# cmake/setup.sh on machines that cannot do what it asks: what it says, its exit status, and what it called. Every tool it uses is a link
# or a stand-in in one folder, which is the whole PATH, so nothing is installed and nothing of this machine shows.
#
#   setup_test.sh <setup.sh>
set -u
script=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# A clone with the script in it, and an empty machine: fresh for each test.
fresh() {
  rm -rf "$work/clone" "$work/bin" "$work/calls" "$work/os-release"
  mkdir -p "$work/clone/cmake" "$work/bin"
  cp "$script" "$work/clone/cmake/setup.sh"
  : >"$work/calls"
  local tool
  for tool in bash basename cat cp dirname du env grep head ls mkdir mktemp rm sed sort tail tar uname; do
    ln -s "$(command -v $tool)" "$work/bin/$tool"
  done
  is_distribution debian 13
  has id 'echo 0'
  has cmake 'echo "cmake version 3.31.6"'
  has ninja true
  has g++ true
  has dpkg-query 'echo installed'
  has apt-get true
}
is_distribution() { printf 'ID=%s\nVERSION_ID="%s"\n' "$1" "$2" >"$work/os-release"; }
# has <tool> <shell commands>: every call is noted.
has() {
  rm -f "$work/bin/$1"
  printf '#!%s\necho "%s $*" >>"%s"\n%s\n' "$(command -v bash)" "$1" "$work/calls" "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
lacks_package() { has dpkg-query "case \"\$*\" in *' $1') exit 1 ;; *) echo installed ;; esac"; }

run() {
  env -i HOME="$work" TMPDIR="$work" PATH="$work/bin" KVR_OS_RELEASE="$work/os-release" \
    bash "$work/clone/cmake/setup.sh" "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
}

complain() {
  failures=$((failures + 1))
  printf 'FAILED: %s: %s\n  exit status %s\n' "$name" "$1" "$status"
  sed 's/^/  out: /' "$work/out"
  sed 's/^/  err: /' "$work/err"
  sed 's/^/  called: /' "$work/calls"
}
ends_with() { [ "$status" = "$1" ] || complain "expected exit status $1"; }
says() { grep -qF -- "$1" "$work/err" || complain "standard error does not say: $1"; }
prints() { grep -qF -- "$1" "$work/out" || complain "standard output does not have: $1"; }
called() { grep -qE -- "$1" "$work/calls" || complain "was not called: $1"; }
never_called() { ! grep -qE -- "$1" "$work/calls" || complain "was called: $1"; }
says_one_line() { [ "$(grep -c . "$work/err")" = 1 ] || complain "standard error is not one line"; }
testing() {
  name=$1
  fresh
}

testing "nothing is missing"
run
ends_with 0
prints "nothing to install"
prints "next: cmake --workflow --preset cpu"
never_called '^apt-get'

testing "an unknown option is named"
run --frob
ends_with 2
says "unknown option '--frob'"
says_one_line

testing "an unknown platform is named"
run --platform vulkan
ends_with 2
says "--platform is 'vulkan'; it must be cpu, cuda or hip"

testing "an option without its value"
run --platform
ends_with 2
says "--platform is ''"
run --prefix
ends_with 2
says "--prefix needs a folder"

testing "another distribution is named, with those that work"
is_distribution fedora 43
run
ends_with 1
says "unsupported distribution 'fedora-43'; supported: Debian 12, Debian 13, Ubuntu 24.04"
says_one_line
rm "$work/os-release"
run
ends_with 1
says "unsupported distribution 'unknown'"

testing "no root, no sudo: said before anything is tried, with what to install"
has id 'echo 1000'
lacks_package libfmt-dev
run
ends_with 1
says "root is needed to install packages, and there is no sudo; as root: apt-get install libfmt-dev"
says_one_line
never_called '^apt-get'

testing "no root, but sudo"
has id 'echo 1000'
has sudo '"$@"'
lacks_package libfmt-dev
run
ends_with 0
called '^sudo apt-get update'
called '^sudo env .*apt-get install .*libfmt-dev'

testing "sudo refuses: its words are shown"
has id 'echo 1000'
has sudo 'echo "sudo: alice is not in the sudoers file" >&2; exit 1'
lacks_package libfmt-dev
run
ends_with 1
says "alice is not in the sudoers file"
says "apt-get could not install: libfmt-dev"

testing "no network: apt-get's words are shown, and where all of them are"
lacks_package libfmt-dev
has apt-get '[ "$1" = update ] || { echo "E: Failed to fetch libfmt: Temporary failure resolving host" >&2; exit 100; }'
run
ends_with 1
says "Temporary failure resolving host"
says "apt-get could not install: libfmt-dev (whole log: $work/"

testing "a prefix that cannot be written is found before anything is installed"
lacks_package libfmt-dev
run --prefix /dev/null/folder
ends_with 1
says "--prefix: cannot write to '/dev/null/folder'"
says_one_line
never_called '^apt-get'

testing "CUDA that is too old is named"
has nvcc 'echo "Cuda compilation tools, release 11.8, V11.8.89"'
run --platform cuda
ends_with 1
says "CUDA 11.8 in $work/bin/nvcc is too old"
never_called '^apt-get'

testing "strict machines: clang is installed where there is none, or too old a one"
run --strict
ends_with 0
prints "nothing to install"  # the package is there, whatever it is called
lacks_package clang
run --strict
ends_with 0
called '^apt-get install .*clang'
prints "next: cmake --workflow --preset ci-cpu"
fresh
lacks_package clang
has clang++ 'echo 13.0.1'
run --strict
called '^apt-get install .*clang'

testing "strict machines: a clang of any name will do"
lacks_package clang
has clang++-17 'echo 17.0.6'
run --strict
ends_with 0
never_called '^apt-get'

testing "without --strict nobody asks for clang"
lacks_package clang
run
ends_with 0
never_called '^apt-get'

testing "Debian 12, no network: why there is no Catch2"
is_distribution debian 12
has apt-get 'case "$*" in indextargets*) echo mirror ;; *) echo "E: The repository is not available" >&2; exit 100 ;; esac'
run
ends_with 1
says "The repository is not available"
says "Catch2's source package could not be fetched (whole log: "

testing "Debian 12 without package sources"
is_distribution debian 12
run
ends_with 1
says "no package source for Debian 12 (bookworm) is configured"

testing "a step that fails unexpectedly says which"
lacks_package libfmt-dev
has mktemp 'exit 7'
run
ends_with 1
says "exit status 7: log=\$(mktemp)"

[ $failures = 0 ] && echo "all of setup.sh's messages reached standard error"
exit $((failures > 0))
