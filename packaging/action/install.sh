#!/usr/bin/env bash
# Puts the dyno of this version below a folder, if the sums of its release confirm it.
#   packaging/action/install.sh FOLDER
# DYNO_RELEASES is the address below which each release has its files: https://github.com/OWNER/NAME/releases/download
set -euo pipefail
die() {
    echo "error: $*" >&2
    exit 2
}
[ $# = 1 ] || die "name a folder: packaging/action/install.sh FOLDER"
[ "$(uname -sm)" = "Linux x86_64" ] || die "there is a build for Linux on x86_64 only; build dyno, and name it as the input dyno"
sources=$(dirname "$(realpath "$0")")/../..
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$sources/Cargo.toml" | head -n 1)
archive=dyno-$version-x86_64-linux-gnu.tar.gz

files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
for file in SHA256SUMS "$archive"; do
    curl --fail --silent --show-error --location --proto-redir =https --retry 3 --output "$files/$file" \
        "$DYNO_RELEASES/v$version/$file" ||
        die "$DYNO_RELEASES/v$version has no $file; build dyno, and name it as the input dyno"
done
sum=$(grep -F -- "  $archive" "$files/SHA256SUMS") || die "SHA256SUMS of release v$version does not name $archive"
(cd "$files" && sha256sum --check --status <<<"$sum") || die "$archive is not the file that SHA256SUMS of its release names"
mkdir -p "$1"
tar -xzf "$files/$archive" --directory "$1" --strip-components=1 --no-same-owner
