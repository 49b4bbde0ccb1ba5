#!/bin/sh
# After an installation, or an uninstallation: let the dynamic loader look again, if this
# runs as root, and say what to do if it would not find the library.
#
#   loader.sh LIBDIR SONAME
#
# With DESTDIR nothing is done: ldconfig runs where that folder is unpacked.
set -eu

[ $# -eq 2 ] || { echo "usage: loader.sh LIBDIR SONAME" >&2; exit 2; }
[ -z "${DESTDIR:-}" ] || exit 0
PATH=$PATH:/sbin:/usr/sbin
known() { ldconfig -p 2>/dev/null | grep -qF "=> $1/$2"; }

[ "$(id -u)" != 0 ] || ldconfig 2>/dev/null || true
[ -e "$1/$2" ] || exit 0
known "$1" "$2" && exit 0
if ldconfig -v -N 2>/dev/null | grep -q "^$1:"; then
  echo "the loader does not know $1/$2 yet. As root:  ldconfig"
else
  cat <<END
the loader does not look in $1. For one program:
  export LD_LIBRARY_PATH=$1
for all of this machine, as root:
  echo $1 > /etc/ld.so.conf.d/assay.conf && ldconfig
END
fi
