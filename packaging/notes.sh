#!/usr/bin/env bash
# Prints what CHANGELOG.md says of the version that a tag names. It fails if the sources have another version, or the changelog no
# date for it.
#   packaging/notes.sh v0.2.0
. "$(dirname "$0")/common.sh"
[ $# = 1 ] || die "name a tag: packaging/notes.sh v0.2.0"
cd "$packaging/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
[ "$1" = "v$version" ] || die "the tag is $1, and Cargo.toml has the version $version"
notes=$(awk -v begin="## $version (" '/^## /{ inside = index($0, begin) == 1 && $0 ~ /\([0-9-]+\)$/; next } inside' CHANGELOG.md)
[ -n "$notes" ] || die "CHANGELOG.md has no heading '## $version (YEAR-MONTH-DAY)'"
echo "$notes"
