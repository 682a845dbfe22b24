# What a container runs first: $1 is the folder of the gate and the leash, $2 what the program reads, $3 its log. The
# program with its arguments follows.
control=$1 input=$2 log=$3
shift 3
# The tool waits for the end of both, and would look again and again if they were closed.
exec 3>&1 4>&2
# Opening a pipe for reading alone would wait for a writer, for ever if Dyno is dead.
exec 7<>"$control/gate" 5<"$control/gate" 7>&-
if [ -p "$control/leash" ]; then
    exec 7<>"$control/leash" 6<"$control/leash" 7>&-
    # No child of the server, and nowhere that a file system would be kept busy.
    (
        cd /
        (read -r word <&6 || kill -KILL $$) >/dev/null 2>&1 3>&- 4>&- 5<&- &
    )
    exec 6<&-
fi
: >"$control/waiting"
read -r word <&5 || exit 125
exec "$@" <"$input" >>"$log" 2>&1 5<&-
