# What the scripts of this folder share. They source it.
# shellcheck shell=bash
set -euo pipefail
umask 022
packaging=$(dirname "$(realpath "${BASH_SOURCE[0]}")")

die() {
    echo "error: $*" >&2
    exit 1
}

# The time of all files in packages, so that the same commit makes the same packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$packaging" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

# Finds what packages have to say of a binary: $version; $machine, its processor, and $debian_machine, as Debian names that;
# $glibc, the oldest glibc that it runs with; $libgcc, whether it needs libgcc_s.
# shellcheck disable=SC2034 # The script that asked uses them.
facts() {
    local binary header library versions
    binary=$(realpath "$1")
    [ -f "$binary" ] || die "there is no file $1"
    header=$(LC_ALL=C readelf --file-header --dynamic --version-info --wide "$binary") || die "$1 is no program of Linux"
    case $(sed -n 's/^ *Machine: *//p' <<<"$header") in
        *X86-64) machine=x86_64 debian_machine=amd64 ;;
        AArch64) machine=aarch64 debian_machine=arm64 ;;
        *) die "$1 is for a processor that packages have no name for" ;;
    esac
    libgcc=no
    for library in $(sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' <<<"$header"); do
        case $library in
            ld-linux-*.so.* | libc.so.6 | libdl.so.2 | libm.so.6 | libpthread.so.0 | librt.so.1 | libutil.so.1) ;;
            libgcc_s.so.1) libgcc=yes ;;
            *) die "$1 needs $library, which no package here depends on" ;;
        esac
    done
    # glibc applies packed relocations since 2.36.
    versions=$(grep -o 'GLIBC_[0-9][0-9.]*\|GLIBC_ABI_DT_RELR' <<<"$header" | sed 's/GLIBC_ABI_DT_RELR/2.36/; s/GLIBC_//') ||
        die "$1 is not linked with glibc"
    glibc=$(sort --version-sort <<<"$versions" | tail -n 1)
    # `dyno 0.2.0 (1a2b3c4)`
    version=$("$binary" --version | cut -d ' ' -f 2)
}
