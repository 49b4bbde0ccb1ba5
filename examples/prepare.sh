#!/bin/sh
# Makes in the current folder what a shop reads at its start, under a test authority in Apple's
# place: config.json and keys.json. And what examples/ask.sh sends to it: a purchase, its refund,
# the header of a signed-in customer. Needs the command line `assay`, and jq.
set -eu

mint() { assay mint "$@" --authority authority; }
coins='--environment Production --type consumable --product com.example.app.coins100'

printf 'Authorization: Bearer %s\n' "$(mint token)" > bearer.header
mint keyset > keys.json
# shellcheck disable=SC2086  # several words
{
  mint transaction $coins | jq -R '{jws: .}' > purchase.json
  mint notification --notification-type REFUND --refunded $coins |
    jq -R '{signedPayload: .}' > refund.json
}
jq -s '.[0] + {tokens: .[1]}' authority/config.json authority/tokens.json > config.json
