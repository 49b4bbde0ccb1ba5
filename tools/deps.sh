#!/bin/sh
# Install the Debian packages that a part of the build needs, if they are
# missing: says first which they are and how much is to be fetched, and asks on a
# terminal. Needs nothing but sh and apt itself.
#
#   tools/deps.sh build     what compiling the library needs
#   tools/deps.sh demo      that, and what the demonstration and the manual need
#   tools/deps.sh shop      that, and what the shop in PHP needs
#   tools/deps.sh packages  that, and what make dist and make deb need
#   tools/deps.sh check     that, and what the tests need
#   tools/deps.sh --list    print all lists
#   tools/deps.sh --older REVISION
#                           say so, and succeed, if apt has a libssl-dev that is newer
set -eu

# Packages of the group "optional" are installed with "check" where apt has
# them; without them their tests are skipped and say so.
# One line each: group, package, and what shows that it is there: a command
# that succeeds. A toolchain that was not installed by apt counts too. The group
# "swift" is what a Swift toolchain that was unpacked may lack.
packages() {
  cat <<'LIST'
swift libcurl4 has libcurl.so.4
swift libedit2 has libedit.so.2
swift libncurses6 has libncurses.so.6
swift libsqlite3-0 has libsqlite3.so.0
swift libstdc++6 has libstdc++.so.6
swift libuuid1 has libuuid.so.1
swift libxml2 has libxml2.so.2
swift zlib1g has libz.so.1
build make command -v make
build libssl-dev test -e /usr/include/openssl/evp.h
build gcc command -v gcc
build g++ command -v g++
build libc6-dev test -e /usr/include/stdlib.h
build binutils command -v readelf
build pkg-config command -v pkg-config
build git command -v git
demo python3 command -v python3
check python3-venv python3 -c 'import venv, ensurepip'
check libcjson-dev test -e /usr/include/cjson/cJSON.h
check valgrind command -v valgrind
check libc6-dbg test -e /usr/share/doc/libc6-dbg
check cmake command -v cmake
check strace command -v strace
check mandoc command -v mandoc
check abigail-tools command -v abidiff
packages dpkg-dev command -v dpkg-shlibdeps
check lintian command -v lintian
check zsh command -v zsh
check fish command -v fish
check cmark-gfm command -v cmark-gfm
check jq command -v jq
check openssl command -v openssl
check sqlite3 command -v sqlite3
check golang-go command -v go
check nodejs command -v node
check libnode-dev test -e /usr/include/node/node_api.h
check libcurl4-openssl-dev pkg-config --exists libcurl
check libsqlite3-dev pkg-config --exists sqlite3
check zlib1g-dev pkg-config --exists zlib
check unzip command -v unzip
shop php-cli command -v php
check php-curl php -r 'exit((int) !extension_loaded("curl"));'
check php-dev command -v phpize
check php-fpm command -v php-fpm$(php -r 'echo PHP_MAJOR_VERSION.".".PHP_MINOR_VERSION;')
check php-cgi command -v php-cgi
check php-xml php -r 'exit((int) !extension_loaded("dom"));'
check php-zip php -r 'exit((int) !extension_loaded("zip"));'
check php-mbstring php -r 'exit((int) !extension_loaded("mbstring"));'
shop php-sqlite3 php -r 'exit((int) !extension_loaded("pdo_sqlite"));'
check phpunit command -v phpunit
check php-codesniffer command -v phpcs
check php-psr-log test -e /usr/share/php/Psr/Log/autoload.php
check php-guzzlehttp-guzzle test -e /usr/share/php/GuzzleHttp/autoload.php
check composer command -v composer
check libfcgi-bin command -v cgi-fcgi
optional qemu-user-static command -v qemu-aarch64-static
optional gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
optional libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdlib.h
optional musl-dev test -e /usr/include/x86_64-linux-musl/stdlib.h
optional musl-tools command -v musl-gcc
optional perl command -v perl
optional node-typescript command -v tsc
optional node-express test -e /usr/share/nodejs/express
optional php-pgsql php -r 'exit((int) !extension_loaded("pdo_pgsql"));'
optional php-mysql php -r 'exit((int) !extension_loaded("pdo_mysql"));'
optional php-redis php -r 'exit((int) !extension_loaded("redis"));'
optional golang-github-mattn-go-sqlite3-dev test -e /usr/share/gocode/src/github.com/mattn/go-sqlite3
optional golang-github-gin-gonic-gin-dev test -e /usr/share/gocode/src/github.com/gin-gonic/gin
optional php-laravel-framework test -e /usr/share/php/Illuminate/autoload.php
optional php-symfony-framework-bundle test -e /usr/share/php/Symfony/Bundle/FrameworkBundle/autoload.php
optional php-symfony-console test -e /usr/share/php/Symfony/Component/Console/autoload.php
optional php-doctrine-dbal test -e /usr/share/php/Doctrine/DBAL/autoload.php
optional golang-github-lib-pq-dev test -e /usr/share/gocode/src/github.com/lib/pq
optional golang-github-go-sql-driver-mysql-dev test -e /usr/share/gocode/src/github.com/go-sql-driver/mysql
optional postgresql ls /usr/lib/postgresql/*/bin/initdb
optional mariadb-server-core test -e /usr/sbin/mariadbd
optional mariadb-client-core command -v mariadb
optional redis-tools command -v redis-check-rdb
optional nginx-light command -v nginx
optional chromium command -v chromium
LIST
}

case "${1:-}" in
  build) groups='swift build' ;;
  demo) groups='swift build demo' ;;
  packages) groups='swift build demo packages' ;;
  shop) groups='swift build demo shop' ;;
  check) groups='swift build demo shop packages check' ;;
  --list) packages | cut -d ' ' -f 1,2; exit 0 ;;
  --older)
    # What is embedded is only as new as what is installed (docs/building.md, OpenSSL).
    command -v apt-cache >/dev/null 2>&1 || exit 1
    candidate=$(apt-cache policy libssl-dev 2>/dev/null | sed -n 's/^ *Candidate: *//p')
    case "${2:-}:$candidate" in :* | *: | *'(none)') exit 1 ;; esac
    dpkg --compare-versions "$2" lt "$candidate" 2>/dev/null || exit 1
    echo "note: libssl-dev $2 is in the library; apt has $candidate:" \
      "apt-get install libssl-dev, then make" >&2
    exit 0 ;;
  *) echo "usage: tools/deps.sh build|demo|shop|packages|check|--list|--older REVISION" >&2
    exit 2 ;;
esac

# Whether no program of the toolchain misses this library.
has() {
  case " $lacks " in *" $1 "*) return 1 ;; esac
}
lacks=
if command -v swift >/dev/null 2>&1; then
  toolchain=$(dirname "$(readlink -f "$(command -v swift)")")
  lacks=$(for program in swift-frontend swift-build clang lld; do
    ldd "$toolchain/$program" 2>/dev/null
  done | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | sort -u | tr '\n' ' ')
fi

# Swift itself is no package of Debian's: it is there and runs, or all ends here.
need_swift() {
  wanted_swift='Swift 6.2 or newer is needed, with swift and swiftc on PATH; swift.org says how to install it'
  for program in swift swiftc; do
    command -v "$program" >/dev/null 2>&1 ||
      { echo "deps: $wanted_swift. There is no $program on PATH." >&2; exit 1; }
  done
  said=$(swift --version 2>&1) ||
    { printf 'deps: %s. This one does not run:\n%s\n' "$wanted_swift" "$said" >&2; exit 1; }
  version=$(printf '%s\n' "$said" | sed -n 's/.*Swift version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  # shellcheck disable=SC2086 # two numbers
  set -- $version 0 0
  [ "$1" -gt 6 ] || { [ "$1" -eq 6 ] && [ "$2" -ge 2 ]; } ||
    { printf 'deps: %s. This one is older:\n%s\n' "$wanted_swift" "$said" >&2; exit 1; }
}
# What apt cannot bring is asked for before it brings the rest.
command -v swift >/dev/null 2>&1 && [ -n "$lacks" ] || need_swift

# The packages of some groups that are not there.
missing_of() {
  packages | while read -r group package probe; do
    case " $1 " in *" $group "*) ;; *) continue ;; esac
    (eval "$probe") >/dev/null 2>&1 </dev/null || printf ' %s' "$package"
  done
}
missing=$(missing_of "$groups")
wanted=
if [ "$1" = check ]; then wanted=$(missing_of optional); fi

if [ -z "$missing$wanted" ]; then
  exit 0
fi

# Say why nothing can be installed; exit only if it is needed.
cannot() {
  if [ -n "$missing" ]; then
    echo "deps: $1; install the equivalents of:$missing" >&2
    exit 1
  fi
  echo "deps: $1; their tests are skipped:$wanted" >&2
  exit 0
}
command -v apt-get >/dev/null 2>&1 || cannot 'no apt-get here'
as_root=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null 2>&1 || cannot 'not root and no sudo'
  as_root=sudo
fi
export DEBIAN_FRONTEND=noninteractive
# Tests start engines of their own. mariadb-server-core and redis-tools have the programs
# without a service; PostgreSQL's package would make a cluster and start it.
settings=/etc/postgresql-common/createcluster.d
without_cluster() {
  case " $1 " in *" postgresql "*) ;; *) return ;; esac
  $as_root mkdir -p "$settings"
  echo 'create_main_cluster = off' | $as_root tee "$settings/assay-deps.conf" >/dev/null
}
with_cluster() {
  if [ -e "$settings/assay-deps.conf" ]; then
    $as_root rm "$settings/assay-deps.conf"
    $as_root rmdir --ignore-fail-on-non-empty "$settings"
  fi
}
log=$(mktemp -t assay-deps.XXXXXX)
# What apt would do, in its words: how many packages, how much to fetch, how much on disk.
plan() {
  # shellcheck disable=SC2086 # a list of words
  LC_ALL=C apt-get install --print-uris -y -q -o Debug::NoLocking=1 --no-install-recommends $1 \
    </dev/null 2>/dev/null | sed -n \
    -e 's/^[0-9]* upgraded, \([0-9]*\) newly installed.*/deps: apt installs \1 packages for that/p' \
    -e 's/^Need to get \(.*\) of archives\./deps: to fetch: \1/p' \
    -e 's/^After this operation, \(.*\) of additional disk space will be used\./deps: on the disk: \1/p'
}
update() {
  echo "deps: fetching apt's lists of packages"
  $as_root apt-get update -q </dev/null >"$log" 2>&1 || cannot "apt-get update: $(tail -n 1 "$log")"
}
# Everything that apt says goes into a file: much of it looks like an error and is none.
install() {
  without_cluster "$1"
  status=0
  # shellcheck disable=SC2086 # a list of words
  "$(dirname "$0")/pace.sh" 90 'installing packages' sh -c 'log=$1; shift; "$@" >"$log" 2>&1' sh \
    "$log" $as_root apt-get install -y -q --no-install-recommends $1 </dev/null || status=$?
  with_cluster
  return "$status"
}

said=$(plan "$missing$wanted")
if [ -z "$said" ]; then
  update
  said=$(plan "$missing$wanted")
fi
echo "deps: packages of Debian that are needed and not here:$missing"
[ -z "$wanted" ] || echo "deps: and, for tests that are skipped without them:$wanted"
[ -z "$said" ] || printf '%s\n' "$said"
if [ -t 0 ] && [ -t 1 ]; then
  printf 'deps: install them? [Y/n] '
  read -r answer || answer=n
  case "$answer" in
    '' | [Yy]*) ;;
    *) echo "deps: nothing was installed. By hand: apt-get install$missing$wanted" >&2; exit 1 ;;
  esac
fi
if [ -n "$missing" ]; then
  install "$missing" || { update && install "$missing"; } ||
    { tail -n 20 "$log" >&2; echo "deps: apt-get could not install:$missing" >&2; exit 1; }
fi
if [ -n "$wanted" ]; then
  install "$wanted" || { update && install "$wanted"; } ||
    echo "deps: apt has not:$wanted; their tests are skipped" >&2
fi
rm -f "$log"
[ -z "$lacks" ] || need_swift
