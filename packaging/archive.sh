#!/usr/bin/env bash
# Makes an archive of a binary that is unpacked below a prefix, such as ~/.local or /usr/local.
#   packaging/archive.sh BINARY FOLDER
. "$(dirname "$0")/common.sh"
[ $# = 2 ] || die "give a binary and a folder: packaging/archive.sh BINARY FOLDER"
facts "$1"

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
name=dyno-$version-$machine-linux-gnu
"$packaging/stage.sh" "$1" "$stage/$name"
mkdir -p "$2"
tar --create --directory="$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$name" |
    gzip -n >"$2/$name.tar.gz"
