#!/bin/sh
# Galera runs this to bring data from a node (donor) to one that joins (joiner). Here the joiner has its data already, and
# says at which position of the common order. The donor refuses if it no longer has the transactions since then.
role= has_missed= position=
while [ $# -gt 0 ]; do
    case $1 in
    --role) role=$2; shift ;;
    --gtid) position=$2; shift ;;
    --bypass) has_missed=yes ;;
    --mysqld-args) break ;;
    esac
    shift
done
# Servers write an account to it, and take a pipe that closes before as a failure.
cat >/dev/null
if [ "$role" = joiner ]; then
    echo "ready none"
    cat "${0%/*}/galera-position"
elif [ -n "$has_missed" ]; then
    echo "done $position"
else
    echo "dyno: a node has missed more than the others keep; set a larger gcache.size in wsrep_provider_options" >&2
    exit 1
fi
