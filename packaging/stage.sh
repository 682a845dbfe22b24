#!/usr/bin/env bash
# Lays out what each package holds, as it is below /usr: the program, its manual pages, its completions, and the licences.
#   packaging/stage.sh BINARY FOLDER
. "$(dirname "$0")/common.sh"
[ $# = 2 ] || die "give a binary and a folder: packaging/stage.sh BINARY FOLDER"
program=$(realpath "$1")
share=$2/share

install -D --mode=755 "$program" "$2/bin/dyno"
mkdir -p "$share/man/man1"
"$program" --quiet man --dir "$share/man/man1"

# Where the shells look for what packages bring.
complete() {
    mkdir -p "$(dirname "$share/$2")"
    "$program" completions "$1" >"$share/$2"
}
complete bash bash-completion/completions/dyno
complete zsh zsh/site-functions/_dyno
complete fish fish/vendor_completions.d/dyno.fish

install -D --mode=644 --target-directory="$share/doc/dyno" "$packaging"/../{LICENSE-APACHE,LICENSE-MIT,CHANGELOG.md}
python3 "$packaging/notices.py" >"$share/doc/dyno/third-party.txt"
