#!/usr/bin/env bash
# Builds the binary that is handed out, for each Linux with glibc 2.28 or later: RHEL 8, Debian 10, Ubuntu 20.04 and newer ones.
#   packaging/build.sh BINARY
# It needs cargo-zigbuild and Zig, whose linker knows the symbols of each glibc: pip install cargo-zigbuild ziglang
. "$(dirname "$0")/common.sh"
[ $# = 1 ] || die "name the binary to make: packaging/build.sh BINARY"
oldest_glibc=2.28
bytes_goal=15000000
target=x86_64-unknown-linux-gnu
output=$(realpath --canonicalize-missing "$1")

cd "$packaging/.."
# crates/cli/build.rs reads it.
export DYNO_GLIBC=$oldest_glibc
# LuaJIT's makefile links a program, and Zig's linker does not add the unwinder by itself.
export TARGET_LIBS=-lunwind
cargo zigbuild --locked --profile dist --package dyno --target "$target.$oldest_glibc"
install -D --mode=755 "${CARGO_TARGET_DIR:-target}/$target/dist/dyno" "$output"

facts "$output"
[ "$(printf '%s\n' "$glibc" "$oldest_glibc" | sort --version-sort | tail -n 1)" = "$oldest_glibc" ] ||
    die "$1 needs glibc $glibc, not $oldest_glibc"
bytes=$(stat --format=%s "$output")
[ "$bytes" -le "$bytes_goal" ] || echo "warning: $1 should have at most $bytes_goal bytes" >&2
echo "$1: dyno $version for glibc $glibc or later, $bytes bytes"
