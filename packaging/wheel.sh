#!/usr/bin/env bash
# Makes a wheel of a binary, for pipx and pip.
#   packaging/wheel.sh BINARY FOLDER
. "$(dirname "$0")/common.sh"
[ $# = 2 ] || die "give a binary and a folder: packaging/wheel.sh BINARY FOLDER"
facts "$1"

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
"$packaging/stage.sh" "$1" "$stage"
mkdir -p "$2"
# As Python writes versions before a release, and the systems that a binary is for.
python3 "$packaging/wheel.py" "$stage" "${version/-rc./rc}" "manylinux_${glibc/./_}_$machine" "$2"
