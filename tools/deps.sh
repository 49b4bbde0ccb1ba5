#!/bin/sh
# Install the Debian packages that a part of the build needs, if they are
# missing. Needs nothing but sh and apt itself.
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
# that succeeds. A toolchain that was not installed by apt counts too.
packages() {
  cat <<'LIST'
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
check libcurl4-openssl-dev pkg-config --exists libcurl
check libsqlite3-dev pkg-config --exists sqlite3
check zlib1g-dev pkg-config --exists zlib
shop php-cli command -v php
check php-curl php -r 'exit((int) !extension_loaded("curl"));'
check php-dev command -v phpize
check php-fpm command -v php-fpm$(php -r 'echo PHP_MAJOR_VERSION.".".PHP_MINOR_VERSION;')
check php-cgi command -v php-cgi
check php-xml php -r 'exit((int) !extension_loaded("dom"));'
check php-mbstring php -r 'exit((int) !extension_loaded("mbstring"));'
shop php-sqlite3 php -r 'exit((int) !extension_loaded("pdo_sqlite"));'
check phpunit command -v phpunit
check composer command -v composer
check libfcgi-bin command -v cgi-fcgi
optional qemu-user-static command -v qemu-aarch64-static
optional gcc-aarch64-linux-gnu command -v aarch64-linux-gnu-gcc
optional libc6-dev-arm64-cross test -e /usr/aarch64-linux-gnu/include/stdlib.h
optional musl-dev test -e /usr/include/x86_64-linux-musl/stdlib.h
optional musl-tools command -v musl-gcc
optional perl command -v perl
optional php-pgsql php -r 'exit((int) !extension_loaded("pdo_pgsql"));'
optional php-mysql php -r 'exit((int) !extension_loaded("pdo_mysql"));'
optional php-redis php -r 'exit((int) !extension_loaded("redis"));'
optional golang-github-mattn-go-sqlite3-dev test -e /usr/share/gocode/src/github.com/mattn/go-sqlite3
optional golang-github-gin-gonic-gin-dev test -e /usr/share/gocode/src/github.com/gin-gonic/gin
optional php-laravel-framework test -e /usr/share/php/Illuminate/autoload.php
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
  build) groups=build ;;
  demo) groups='build demo' ;;
  packages) groups='build demo packages' ;;
  shop) groups='build demo shop' ;;
  check) groups='build demo shop packages check' ;;
  --list) packages | cut -d ' ' -f 1,2; exit 0 ;;
  --older)
    # What is embedded is only as new as what is installed (docs/building.md, OpenSSL).
    command -v apt-cache >/dev/null 2>&1 || exit 1
    candidate=$(apt-cache policy libssl-dev 2>/dev/null | sed -n 's/^ *Candidate: *//p')
    case "${2:-}:$candidate" in :* | *: | *'(none)') exit 1 ;; esac
    dpkg --compare-versions "$2" lt "$candidate" 2>/dev/null || exit 1
    echo "libssl-dev $candidate is to be had, $2 is in the library:" \
      "apt-get install libssl-dev, then make" >&2
    exit 0 ;;
  *) echo "usage: tools/deps.sh build|demo|shop|packages|check|--list|--older REVISION" >&2
    exit 2 ;;
esac

if ! command -v swift >/dev/null 2>&1; then
  echo "deps: Swift 6.2 or newer is needed and no 'swift' is on PATH." >&2
  echo "deps: install it as swift.org describes, then run this again." >&2
  exit 1
fi

# The packages of some groups that are not there.
missing_of() {
  packages | while read -r group package probe; do
    case " $1 " in *" $group "*) ;; *) continue ;; esac
    sh -c "$probe" >/dev/null 2>&1 </dev/null || printf ' %s' "$package"
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
install() {
  echo "deps: installing$1"
  without_cluster "$1"
  status=0
  # shellcheck disable=SC2086 # a list of words
  $as_root apt-get install -y -q --no-install-recommends $1 </dev/null || status=$?
  with_cluster
  return "$status"
}
if [ -n "$missing" ]; then
  install "$missing" || { $as_root apt-get update -q </dev/null; install "$missing"; }
fi
if [ -n "$wanted" ]; then
  install "$wanted" ||
    { $as_root apt-get update -q </dev/null && install "$wanted"; } ||
    echo "deps: apt has not:$wanted; their tests are skipped" >&2
fi
