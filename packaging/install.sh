#!/bin/sh
# Put one file where it belongs, and remove everything again. Needs nothing
# but sh and coreutils.
#
#   install.sh MODE SOURCE TARGET    copy a file: 644, 755
#   install.sh link TEXT TARGET      make a symbolic link
#   install.sh remove                remove what the manifest lists
#
# DESTDIR goes before every target. MANIFEST, when it is not empty, names the
# file (without DESTDIR) that lists what was put there: one absolute path per
# line, directories with a slash at the end, each before what is in it.
set -eu

note() {
  [ -n "$MANIFEST" ] || return 0
  grep -qxF -- "$1" "$DESTDIR$MANIFEST" 2>/dev/null ||
    printf '%s\n' "$1" >>"$DESTDIR$MANIFEST"
}

# Make the missing directories above a path, and note them.
make_room() {
  above=$(dirname -- "$1")
  [ -d "$DESTDIR$above" ] && return 0
  make_room "$above"
  above=$(dirname -- "$1")
  mkdir -- "$DESTDIR$above"
  made="$made$above/
"
}

# The directories cannot be noted before that of the manifest exists.
prepare() {
  made=
  [ -n "$DESTDIR" ] && mkdir -p -- "$DESTDIR"
  [ -z "$MANIFEST" ] || make_room "$MANIFEST"
  make_room "$1"
  [ -z "$MANIFEST" ] || note "$MANIFEST"
  printf '%s' "$made" | while IFS= read -r directory; do note "$directory"; done
}

# The last line first: what is in a directory goes before the directory.
remove() {
  list=$DESTDIR$MANIFEST
  if [ -z "$MANIFEST" ] || [ ! -f "$list" ]; then
    echo "uninstall: nothing was installed here: there is no $list"
    return 0
  fi
  lines=$(sed '1!G;h;$!d' "$list")
  printf '%s\n' "$lines" | while IFS= read -r path; do
    case $path in
      */) ;;
      /*) rm -f -- "$DESTDIR$path" ;;
    esac
  done
  printf '%s\n' "$lines" | while IFS= read -r path; do
    case $path in
      /*/) [ ! -d "$DESTDIR$path" ] ||
        rmdir --ignore-fail-on-non-empty -- "$DESTDIR$path" ;;
    esac
  done
  echo "uninstall: removed what $list lists"
}

DESTDIR=${DESTDIR:-}
MANIFEST=${MANIFEST:-}
case "${1:-}:$#" in
  remove:1) remove; exit 0 ;;
  link:3 | [0-7][0-7][0-7]:3) ;;
  *) echo "usage: install.sh MODE SOURCE TARGET | link TEXT TARGET | remove" >&2
    exit 2 ;;
esac
case $3 in
  /*) ;;
  *) echo "install: $3 is not an absolute path: set PREFIX to one" >&2; exit 2 ;;
esac
prepare "$3"
if [ "$1" = link ]; then
  ln -sfn -- "$2" "$DESTDIR$3"
else
  install -m "$1" -- "$2" "$DESTDIR$3.new"
  mv -f -- "$DESTDIR$3.new" "$DESTDIR$3"
fi
note "$3"
