#!/bin/sh
# Run a command, and while it runs print each half minute how long it has taken and how long it
# takes on two cores that do nothing else.
#
#   tools/pace.sh SECONDS WHAT COMMAND...
#
# The lines go to standard error; the exit code is the command's. EVERY is the pause between two
# lines, in seconds.
set -u

[ $# -ge 3 ] || { echo "usage: tools/pace.sh SECONDS WHAT COMMAND..." >&2; exit 2; }
expected=$1
what=$2
shift 2
begin=$(date +%s)
# The pause holds none of the files that a caller may wait for, and ends with this shell.
while sleep "${EVERY:-30}" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
  echo "  $what: $(($(date +%s) - begin)) s passed, about $expected s expected" >&2
done &
ticker=$!
"$@"
code=$?
kill "$ticker" 2>/dev/null
exit "$code"
