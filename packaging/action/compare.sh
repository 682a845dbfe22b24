#!/usr/bin/env bash
# The work of action.yml: builds two commits of the repository in the current folder, and compares the builds.
#   packaging/action/compare.sh FOLDER
# FOLDER, which is made, gets `report` with the page, the comment and the results. The environment has
#   DYNO            the program
#   BASE, HEAD      the commits: numbers, branches or tags
#   BUILD           a shell command, run in a checkout of each commit
#   BUILD_FOLDER    the folder below the checkout in which BUILD leaves the server
#   ARGUMENTS       more for `dyno versus`, as in a shell
#   UNDECIDED       `fail` or `pass`: what to do if it is not decided whether a test got slower
#   NAME            tells several comparisons of a pull request apart
# It exits as `dyno versus --gate` does: 0, 1 if a test got slower, 2 after an error, 3 if that is not decided.
set -euo pipefail
die() {
    echo "error: $*" >&2
    exit 2
}
[ $# = 1 ] || die "name a folder: packaging/action/compare.sh FOLDER"
[ ! -e "$1" ] || die "$1 exists already; several comparisons of a job need names of their own"
case $UNDECIDED in fail | pass) ;; *) die "undecided is '$UNDECIDED'; write fail or pass" ;; esac
case $BUILD_FOLDER in /*) die "the folder of a build is below its checkout, and '$BUILD_FOLDER' is not" ;; esac
folder=$(realpath --canonicalize-missing "$1")

# The number of a commit, which is fetched if a shallow clone lacks it.
commit() {
    case $1 in '' | -*) die "'$1' is not a commit" ;; esac
    git rev-parse --quiet --verify "$1^{commit}" && return
    git fetch --quiet --no-tags --depth=1 origin "$1" >&2 || die "there is no commit '$1'"
    git rev-parse --verify FETCH_HEAD
}

# Builds a commit. build-SIDE is then the server's folder, and what the report calls it.
build() {
    local source=$folder/source-$1
    echo "::group::build $1 of $2"
    git worktree add --quiet --detach "$source" "$2"
    (cd "$source" && exec bash -e -o pipefail -c "$BUILD") || die "the build of $1 failed at $2"
    echo "::endgroup::"
    [ -d "$source/$BUILD_FOLDER" ] || die "the build of $1 left no folder '$BUILD_FOLDER'"
    ln -s "$source/$BUILD_FOLDER" "$folder/build-$1"
}

# Prints the verdict, with which `dyno versus` ended, in another form.
judge() {
    "$DYNO" compare "${results[@]}" "$@" || [ $? = "$status" ] || die "dyno compare has another verdict than dyno versus"
}

clear_away() {
    for side in main pr; do
        [ ! -e "$folder/source-$side" ] || git worktree remove --force "$folder/source-$side" || true
    done
}

base=$(commit "$BASE")
head=$(commit "$HEAD")
report=$folder/report
mkdir -p "$report"
trap clear_away EXIT
build main "$base"
build pr "$head"

# They are words of a shell, as BUILD is.
more=()
eval "more=($ARGUMENTS)"
results=(--results "$report/dyno.db")
status=0
"$DYNO" versus "$folder/build-main" "$folder/build-pr" "${results[@]}" --gate --no-html "${more[@]}" || status=$?
case $status in
    0) verdict="no test got slower" ;;
    1) verdict="a test got slower" ;;
    3) verdict="not decided" ;;
    *) verdict="no comparison was made" ;;
esac

# Its first line tells a later run which comment to replace.
comment=$report/comment.md
{
    echo "<!-- dyno $NAME -->"
    echo "**$NAME: $verdict.** \`build-pr\` is ${head:0:10}, \`build-main\` is ${base:0:10}."
    [ -z "${GITHUB_RUN_ID:-}" ] ||
        echo "The page is among the artefacts of [this run]($GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID)."
    echo
} >"$comment"
case $status in
    0 | 1 | 3)
        judge --format markdown >>"$comment"
        judge --format junit --out "$report/verdict.xml"
        "$DYNO" report "${results[@]}" --format html --out "$report/dyno.html"
        ;;
    *) echo "The log of the job has the error." >>"$comment" ;;
esac

cat "$comment" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
cat >>"${GITHUB_OUTPUT:-/dev/null}" <<END
status=$status
comment=$comment
report=$report
END

if [ "$status $UNDECIDED" = "3 pass" ]; then
    echo "::warning::It is not decided whether a test got slower."
    exit 0
fi
exit "$status"
