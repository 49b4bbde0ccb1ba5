// Frame of docs/tasks/run-exchange.md: Apple is a client that says what was minted.
package main

import (
	"context"
	"errors"

	assay "assay.example/bindings/go"
)

func queue(*assay.Document) error { return errors.New("nothing is to be queued") }

func ask(ctx context.Context, exchange *assay.Exchange, sender *assay.Sender) error {
	// SNIPPET
}

func main() {
	ctx := context.Background()
	receipt := minted("app-receipt")
	exchange, err := verifierOfAuthority().Exchange(
		ctx, map[string]string{"operation": "call-verify-receipt", "receipt": receipt}, nil)
	check(err)
	sender := &assay.Sender{Client: &apple{[]string{minted("verify-receipt-response")}}}
	check(ask(ctx, exchange, sender))
}
