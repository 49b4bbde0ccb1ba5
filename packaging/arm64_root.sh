#!/bin/sh
# Debian's arm64 packages that the cross build reads and that its tests run
# with, unpacked into a folder. The machine is not changed: the packages are
# fetched through separate lists, and none is installed.
#
#   packaging/arm64_root.sh FOLDER
#
# FOLDER/root gets the files. Does nothing when they are there. Exit code 3 and
# a line on standard output: it cannot be done here, and why.
set -eu

folder=$1
# What is linked, with musl as well; what the C programs run with; what Python runs with.
packages='libssl-dev musl-dev musl
libc6 libgcc-s1 libcjson1
python3.11-minimal libpython3.11-minimal libpython3.11-stdlib python3-pip-whl
libexpat1 libffi8 libssl3 zlib1g'

cannot() {
  echo "$1"
  exit 3
}

for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-objcopy qemu-aarch64-static; do
  command -v "$tool" >/dev/null 2>&1 ||
    cannot "no $tool (tools/deps.sh check installs it where apt has it)"
done
if [ "$(cat "$folder/root.packages" 2>/dev/null)" = "$packages" ]; then
  exit 0
fi
for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null 2>&1 || cannot "no $tool: not a Debian system"
done

rm -rf "$folder/root" "$folder/packages"
mkdir -p "$folder/root" "$folder/packages" "$folder/apt/lists/partial" \
  "$folder/apt/cache/archives/partial"
folder=$(cd "$folder" && pwd)
# The sources and keys are the system's; lists, cache and state are not.
apt() {
  apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
    -o Dir::State::Lists="$folder/apt/lists" -o Dir::Cache="$folder/apt/cache" \
    -o Dir::State::status=/dev/null -o APT::Sandbox::User= "$@" \
    </dev/null >"$folder/apt/log" 2>&1
}
apt update || cannot "apt-get has no lists for arm64: $(tail -n 1 "$folder/apt/log")"
cd "$folder/packages"
# shellcheck disable=SC2086 # a list of words
apt download $packages ||
  cannot "apt-get has not every arm64 package: $(tail -n 1 "$folder/apt/log")"
for package in *.deb; do
  dpkg-deb -x "$package" "$folder/root"
done
rm -rf "$folder/apt" "$folder/packages"
printf '%s\n' "$packages" >"$folder/root.packages"
