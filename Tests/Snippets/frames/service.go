// Frame of a Go fragment that makes a verifier with Apple's roots, verifies and
// decides: here the test authority's roots take their place.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"

	assay "assay.example/bindings/go"
)

const token = "1b4e28ba-2fa1-11d2-883f-b9a761bde3fb"

func member(text json.RawMessage, name string) json.RawMessage {
	var members map[string]json.RawMessage
	check(json.Unmarshal(text, &members))
	return members[name]
}

// verifierUnderTest adds the authority's roots to a configuration.
func verifierUnderTest(config string) (*assay.Verifier, error) {
	roots := member(member(json.RawMessage(authority()), "storekit"), "anchors")
	anchors := `, "storekit": {"anchors": ` + string(roots) + "}}"
	return assay.NewVerifier(strings.TrimSuffix(strings.TrimSpace(config), "}") + anchors)
}

func main() {
	ctx := context.Background()
	jws := minted("transaction", "--product", "premium.monthly", "--environment", "Production",
		"--account", token)
	_ = errors.Is
	// REPLACES assay.NewVerifier WITH verifierUnderTest
	// SNIPPET
	if err != nil || decision.Plan != "premium" || transaction.ProductID != "premium.monthly" {
		log.Fatal(fmt.Sprint(err, decision, transaction))
	}
}
