#!/usr/bin/env bash
# Makes every package of a binary, and SHA256SUMS of them.
#   packaging/all.sh BINARY FOLDER
. "$(dirname "$0")/common.sh"
[ $# = 2 ] || die "give a binary and a folder: packaging/all.sh BINARY FOLDER"
for kind in archive deb wheel; do
    "$packaging/$kind.sh" "$1" "$2"
done
cd "$2"
sha256sum -- *.deb *.tar.gz *.whl >SHA256SUMS
