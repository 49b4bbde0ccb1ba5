#!/bin/sh
# What the library for musl is linked with and tested with: Debian's sources of
# OpenSSL, from which libcrypto is built for musl, and of cJSON. The machine is not
# changed: the sources are fetched through separate lists, and nothing is installed.
#
#   packaging/musl_root.sh FOLDER [HEADERS CLANG]
#
# For this machine musl-gcc compiles it; for 64-bit ARM clang, of the folder CLANG, with musl's
# HEADERS for ARM.
# FOLDER/openssl gets libcrypto.a and include, FOLDER/cjson the sources of cJSON,
# FOLDER/NAME.version says which Debian revision each is, FOLDER/kernel leads to the
# kernel's headers. Does nothing when they are there. Exit code 3 and a line on standard
# output: it cannot be done here, and why.
set -eu

folder=$1
machine=x86_64
# On ARM libcrypto without its assembler: for musl that would try each instruction at load, under
# a signal handler of its own, and a library in another's process installs none.
if [ -n "${2:-}" ]; then machine=aarch64; fi
pace=$(cd "$(dirname "$0")/.." && pwd)/tools/pace.sh
sources='openssl cjson'
# What Assay does not use and musl's headers do not have; no configuration, no engine
# and no module is ever read. No function of the last four lines would be linked: without
# them it takes half the time. Optimised as Debian's own.
case $machine in aarch64) system='linux-aarch64 no-asm' ;; *) system=linux-x86_64 ;; esac
options="$system -O2 no-shared no-makedepend no-tests no-dso no-module no-engine no-afalgeng
no-ktls no-async no-ui-console no-ssl no-comp -fPIC no-aria no-bf no-blake2 no-camellia no-cast
no-chacha no-cmac no-cmp no-cms no-ct no-des no-dh no-dsa no-ec2m no-gost no-idea no-legacy
no-md4 no-mdc2 no-ocb no-ocsp no-poly1305 no-psk no-rc2 no-rc4 no-rfc3779 no-rmd160
no-scrypt no-seed no-siphash no-siv no-sm2 no-sm3 no-sm4 no-srp no-srtp no-ts no-whirlpool"

cannot() {
  echo "$1"
  exit 3
}

for tool in musl-gcc dpkg-source perl make; do
  command -v "$tool" >/dev/null 2>&1 ||
    cannot "no $tool (tools/deps.sh check installs it where apt has it)"
done
[ "$(uname -m)" = x86_64 ] || cannot 'the library for musl is built on x86_64 alone'
stamp="$sources $options"
if [ "$(cat "$folder/root.stamp" 2>/dev/null)" = "$stamp" ]; then
  exit 0
fi
command -v apt-get >/dev/null 2>&1 || cannot 'no apt-get: not a Debian system'

rm -rf "$folder/sources" "$folder/openssl" "$folder/cjson" "$folder/root.stamp"
mkdir -p "$folder/sources" "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
folder=$(cd "$folder" && pwd)
# Debian's own among the system's sources of packages, asked for source packages.
keys=/usr/share/keyrings/debian-archive-keyring.gpg
apt-get indextargets --format '$(ORIGIN) $(CREATED_BY) $(SITE) $(RELEASE) $(COMPONENT)' |
  sed -n "s|^Debian Packages |deb-src [signed-by=$keys] |p" >"$folder/apt/sources.list"
[ -s "$folder/apt/sources.list" ] || cannot 'apt has no lists of Debian (apt-get update)'
apt() {
  program=$1
  shift
  "$program" -q -o Dir::Etc::SourceList="$folder/apt/sources.list" \
    -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$folder/apt/lists" \
    -o Dir::Cache="$folder/apt/cache" -o APT::Sandbox::User= "$@" \
    </dev/null 2>"$folder/apt/log"
}
apt apt-get update >/dev/null ||
  cannot "apt-get has no lists of sources: $(tail -n 1 "$folder/apt/log")"
# The newest revision that the mirror has: lists may name one that is gone, or not yet
# there.
fetch() {
  for version in $(apt apt-cache showsrc "$1" | sed -n 's/^Version: //p' | sort -ruV); do
    if apt apt-get source --download-only "$1=$version" >/dev/null; then
      printf '%s\n' "$version" >"$folder/$1.version"
      return 0
    fi
    echo "$1 $version is not available: $(tail -n 1 "$folder/apt/log")" >&2
  done
  return 1
}
cd "$folder/sources"
for source in $sources; do
  fetch "$source" || cannot "apt-get has no source of $source"
  dpkg-source -q -x "${source}_$(sed 's/^[0-9]*://' "$folder/$source.version").dsc" \
    "$folder/$source" >"$folder/apt/log" 2>&1 ||
    cannot "dpkg-source: $(tail -n 1 "$folder/apt/log")"
done
echo "building libcrypto $(cat "$folder/openssl.version") for musl" >&2
# The kernel's headers, without those of glibc that are beside them.
# libcrypto keeps the compiler's line, so the path in it is that from its own folder.
rm -rf "$folder/kernel"
mkdir "$folder/kernel"
if [ "$machine" = aarch64 ]; then
  cross=/usr/aarch64-linux-gnu/include
  ln -s "$cross/linux" "$cross/asm-generic" "$cross/asm" "$folder/kernel"
  ln -sfn "$2" "$folder/headers"
  export PATH="$3:$PATH"
  tools='AR=aarch64-linux-gnu-ar RANLIB=aarch64-linux-gnu-ranlib'
  compiler='clang --target=aarch64-linux-musl -mno-outline-atomics -nostdlibinc -isystem ../headers'
else
  ln -s /usr/include/linux /usr/include/asm-generic /usr/include/x86_64-linux-gnu/asm \
    "$folder/kernel"
  tools=
  compiler=musl-gcc
fi
cd "$folder/openssl"
# shellcheck disable=SC2086,SC2016
"$pace" 70 'building libcrypto for musl' sh -c '
  log=$1; shift
  { ./Configure "$@" && make -j"$(nproc)" build_generated libcrypto.a; } >"$log" 2>&1' sh "$folder/openssl.log" CC="$compiler -isystem ../kernel" $tools $options </dev/null ||
  cannot "libcrypto for musl: $(tail -n 1 "$folder/openssl.log")"
rm -rf "$folder/apt" "$folder/sources" "$folder"/*.orig.tar.gz*
printf '%s\n' "$stamp" >"$folder/root.stamp"
