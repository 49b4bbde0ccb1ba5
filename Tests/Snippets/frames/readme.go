// Frame of a Go fragment that has a configuration, and answers with an error.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	assay "assay.example/bindings/go"
)

func decide(ctx context.Context, config, jws string) error {
	// SNIPPET
	if decision == nil || decision.Plan != "premium" {
		return fmt.Errorf("another decision: %v", decision)
	}
	return err
}

func main() {
	jws := minted("transaction", "--product", "com.example.app.premium.monthly",
		"--environment", "Production")
	check(decide(context.Background(), authority(), jws))
	// A forged one ends in the fragment's own answer.
	forged := minted("transaction", "--forge", "JWS-20")
	if err := decide(context.Background(), authority(), forged); !errors.Is(err, assay.ErrRejected) {
		log.Fatal(err)
	}
}
