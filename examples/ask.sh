#!/bin/sh
# Asks the shop at the address given, 127.0.0.1:8080, once it answers: a purchase twice, its refund,
# the purchase again. The files are those of examples/prepare.sh.
set -eu

ask() {
  curl -s -w ' %{http_code}' -H @bearer.header -H 'Content-Type: application/json' \
    -d "@$2" "http://$address/v1/$1" | tr -d '\n'
  echo
}
address=$1
curl -s -o /dev/null --retry 30 --retry-delay 1 --retry-connrefused "http://$address/" || {
  echo "ask.sh: nothing answers at $address" >&2
  exit 1
}
ask purchases purchase.json
ask purchases purchase.json
ask notifications refund.json
ask purchases purchase.json
