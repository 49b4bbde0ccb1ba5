#!/bin/bash
# A first look at Assay, without a device and without Apple: mint evidence under
# a test authority, verify it, decide from it, and say why.
#
#   make demo
#
# Exits with 1 when any outcome is not the expected one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
CLI=${CLI:-.build/release/assay-cli}
LIBRARY=${LIBRARY:-build/full/lib/libassay.so.0}
DEMO=build/demo
ACCOUNT=0f8fad5b-d9cb-469f-a165-70867728950e
passed=0
failed=0

# The scene must not depend on what an earlier run left.
rm -rf "$DEMO"
mkdir -p "$DEMO"
CONFIG=$DEMO/authority/config.json

mint() { # name, arguments of assay mint
  local name=$1
  shift
  "$CLI" mint "$@" --authority "$DEMO/authority" --account "$ACCOUNT" \
    --out "$DEMO/$name.jws"
}

# One member of a document, by python3's own reader.
member() { # path, document
  python3 -c '
import json, sys
value = json.load(open(sys.argv[2]))
for name in sys.argv[1].split("."):
    value = value.get(name) if isinstance(value, dict) else None
print("" if value is None else value)' "$1" "$2"
}

expect() { # what, wanted, got
  if [ "$2" = "$3" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "  NOT AS EXPECTED: $1 is '$3', it should be '$2'"
  fi
}

scene() { # number, title, evidence, name of the file
  echo
  echo "$1. $2"
  echo "   evidence: $DEMO/$3.jws ($(wc -c <"$DEMO/$3.jws") bytes)"
}

verify() { # name, status that is expected
  local document=$DEMO/$1.verdict.json
  "$CLI" verify "$DEMO/$1.jws" --kind transaction --config "$CONFIG" --json \
    >"$document" || true
  local status
  status=$(member status.name "$document")
  if [ "$status" = ok ]; then
    echo "   verified: $(member transaction.productId "$document")," \
      "transaction $(member transaction.transactionId "$document")"
  else
    echo "   refused:  $status at $(member error.at "$document")"
    echo "             $(member error.message "$document")"
    echo "             what to do: $(member error.hint "$document")"
  fi
  expect "the verdict" "$2" "$status"
}

decide() { # name, plan, state, status that are expected
  local document=$DEMO/$1.decision.json
  "$CLI" decide "transaction:$DEMO/$1.jws" --config "$CONFIG" --json \
    --account "$ACCOUNT" >"$document" || true
  local plan state status row
  plan=$(member decision.plan "$document")
  state=$(member decision.state "$document")
  row=$(member decision.rule "$document")
  status=$(member status.name "$document")
  echo "   decided:  plan '$plan', because the subscription is $state ($row)"
  expect "the plan" "$2" "$plan"
  expect "the state" "$3" "$state"
  expect "the status" "$4" "$status"
}

echo "Assay decides who may have what from evidence that Apple signs. Here a test"
echo "authority of your own signs instead, with certificates of Apple's shape."

mint active transaction
mint refunded transaction --refunded
mint expired transaction --expired
mint forged transaction --forge JWS-20 2>"$DEMO/forged.txt"
PLANS=$(python3 -c '
import json, sys
plans = json.load(open(sys.argv[1])).get("plans", ["free"])
print(plans[0], plans[-1])' "$CONFIG")
FREE=${PLANS% *}
PLAN=$(python3 -c '
import json, sys
config, verdict = (json.load(open(path)) for path in sys.argv[1:])
print(config["products"][verdict]["plan"])' "$CONFIG" <(
  "$CLI" inspect "$DEMO/active.jws" --json | python3 -c '
import json, sys
print(json.dumps(json.load(sys.stdin)["payload"]["productId"]))'))

scene 1 "A subscription that is paid for" active
verify active ok
decide active "$PLAN" active ok

scene 2 "A subscription that was refunded" refunded
verify refunded ok
decide refunded "$FREE" refunded rejected.decision.not-entitled

scene 3 "A forgery: a chain of its own, under a root that carries Apple's name" forged
verify forged rejected.chain.untrusted-root
echo "   decided:  nothing; evidence that is not verified never reaches a decision"

scene 4 "A subscription that has ended" expired
verify expired ok
decide expired "$FREE" expired rejected.decision.not-entitled

# ---- receipts ----------------------------------------------------------------

triage() { # file, category and status that are expected
  local document=$DEMO/$(basename "$1").triage.json
  "$CLI" triage "$1" --config "$CONFIG" --json >"$document" || true
  local category status
  category=$(member triage.category "$document")
  status=$(member status.name "$document")
  echo "   triage:   $category, $(member triage.format "$document")" \
    "($status); next: $(member triage.nextStep "$document")"
  expect "the class" "$2" "$category"
  expect "the finding" "$3" "$status"
}

verify_receipt() { # file, kind, member with the facts, status that is expected
  local document=$DEMO/$(basename "$1").verdict.json
  "$CLI" verify "$1" --kind "$2" --config "$CONFIG" --json >"$document" || true
  local status
  status=$(member status.name "$document")
  echo "   verified: $2 of $(member "$3.bundleId" "$document") ($status)"
  expect "the verdict" "$4" "$status"
}

echo
echo "5. Receipts: look before verifying, and before any network call"
"$CLI" mint app-receipt --authority "$DEMO/authority" --out "$DEMO/app.receipt"
"$CLI" mint transaction-receipt --authority "$DEMO/authority" \
  --out "$DEMO/transaction.receipt"
printf 'com.urus.iap.72519604' | base64 >"$DEMO/cracking-tool.receipt"
for file in app transaction; do
  echo "   evidence: $DEMO/$file.receipt ($(wc -c <"$DEMO/$file.receipt") bytes)"
  triage "$DEMO/$file.receipt" candidate pending.triage.verify-next
done
verify_receipt "$DEMO/app.receipt" app-receipt appReceipt ok
verify_receipt "$DEMO/transaction.receipt" transaction-receipt transactionReceipt ok
echo "   evidence: $DEMO/cracking-tool.receipt, what a cracking program sends"
triage "$DEMO/cracking-tool.receipt" cracking-tool rejected.triage.cracking-tool

echo
echo "6. A day of a payment server, 20,000 requests"
"$CLI" mint --day 20000 --authority "$DEMO/authority" --out "$DEMO/day.ndjson"
"$CLI" report "$DEMO/day.ndjson" --config "$CONFIG" --quiet \
  --html "$DEMO/day.html" --svg "$DEMO/day.svg" | sed 's/^/   /'
echo "   as a page: $DEMO/day.html"
expect "a page with a chart" 1 "$(grep -c -m 1 '<svg' "$DEMO/day.html")"

# ---- App Attest --------------------------------------------------------------

attested() { # name, kind, configuration, status that is expected, more arguments
  local name=$1 kind=$2 config=$3 wanted=$4
  shift 4
  local document=$DEMO/$name.$kind.verdict.json
  "$CLI" verify "$DEMO/$name.b64" --kind "$kind" --config "$config" --json \
    --client-data "$BODY" "$@" >"$document" || true
  local status
  status=$(member status.name "$document")
  if [ "$status" != ok ]; then
    echo "   refused:  $status: $(member error.message "$document")"
    echo "             what to do: $(member error.hint "$document")"
  elif [ "$kind" = attestation ]; then
    echo "   verified: a key of $(member attestation.appId "$document")," \
      "$(member attestation.environment "$document")," \
      "build $(member attestation.bundleVersion "$document")" \
      "($(member attestation.categoryName "$document"))"
  else
    echo "   verified: signed by that key," \
      "counter $(member assertion.previousCounter "$document") ->" \
      "$(member assertion.counter "$document")"
  fi
  expect "the verdict" "$wanted" "$status"
}

echo
echo "7. An app that proves itself, a replay, a developer's phone, and a Mac"
BODY='{"challenge":"c2VzYW1lIG9wZW4","buy":"premium.monthly"}'
PRODUCTION=$DEMO/production.json
"$CLI" mint attestation --authority "$DEMO/authority" --client-data "$BODY" \
  --out "$DEMO/key.b64"
"$CLI" mint assertion --authority "$DEMO/authority" --client-data "$BODY" \
  --counter 1 --out "$DEMO/request.b64"
"$CLI" mint attestation --authority "$DEMO/authority" --client-data "$BODY" \
  --environment Sandbox --out "$DEMO/development.b64"
python3 -c '
import json, sys
config = json.load(open(sys.argv[1]))
config["attest"]["environments"] = ["production"]
json.dump(config, open(sys.argv[2], "w"))' "$CONFIG" "$PRODUCTION"
KEY_ID=$(member keyId "$DEMO/authority/device.json")
PUBLIC_KEY=$(member publicKey "$DEMO/authority/device.json")
echo "   evidence: $DEMO/key.b64, what attestKey gave ($(wc -c <"$DEMO/key.b64") bytes)"
attested key attestation "$PRODUCTION" ok --key-id "$KEY_ID"
echo "   evidence: $DEMO/request.b64, what generateAssertion gave for $BODY"
attested request assertion "$PRODUCTION" ok --public-key "$PUBLIC_KEY" --counter 0
echo "   evidence: the same again, with the counter that is stored now"
attested request assertion "$PRODUCTION" rejected.assertion.counter \
  --public-key "$PUBLIC_KEY" --counter 1
echo "   evidence: $DEMO/development.b64, of a build from Xcode, at a production server"
attested development attestation "$PRODUCTION" rejected.attest.environment \
  --key-id "$KEY_ID"
echo "   a Mac cannot attest: what may it do?"
RISK=$(ASSAY_LIBRARY=$LIBRARY PYTHONPATH=bindings/python python3 -B -c '
import sys, assay
risk = assay.Verifier(open(sys.argv[1]).read()).assess_risk({
    "request": "metered", "attestation": "unsupported", "platform": "macos",
    "errorCode": 1, "purchase": "none"})
for rule in risk.rules:
    print(f"   decided:  {risk.verdict}, {risk.allowance} a day ({rule.id}: {rule.reason})")
print(f"             the person reads: {risk.client.text}")
print(risk.verdict)' "$PRODUCTION" || true)
echo "${RISK%$'\n'*}"
expect "the verdict on the Mac" limited "${RISK##*$'\n'}"

echo
echo "Your own JWS: put your app into a configuration and leave the anchors out, so"
echo "that Apple's own root is the one that counts."
cat <<'TEXT'

  echo '{"apps":[{"bundleId":"com.example.app","appAppleId":1234567890}]}' > config.json
TEXT
cat <<TEXT

  command line   $CLI verify purchase.jws --kind transaction --config config.json
                 (a Sandbox purchase: add "environments":["Sandbox"])
  Python         ASSAY_LIBRARY=$LIBRARY PYTHONPATH=bindings/python python3 -c '
                 import assay
                 verifier = assay.Verifier(open("config.json").read())
                 print(verifier.verify_transaction(open("purchase.jws").read().strip()))'
  C              cc -Iinclude bindings/c/examples/verify.c -o verify \\
                   -L${LIBRARY%/*} -lassay -lcjson -Wl,-rpath,\$PWD/${LIBRARY%/*}
                 ./verify config.json transaction purchase.jws
TEXT
echo
echo "suite demo: $passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
