// Frame of docs/tasks/verify-receipt.md: Apple is a client that says what was minted.
package main

import (
	"context"
	"fmt"
	"log"

	assay "assay.example/bindings/go"
)

func ask(
	ctx context.Context, verifier *assay.Verifier, sender *assay.Sender, text string,
) (*assay.Decision, error) {
	// SNIPPET
}

func main() {
	server := &apple{[]string{
		minted("verify-receipt-response", "--apple-status", "21007"),
		minted("verify-receipt-response")}}
	decision, err := ask(context.Background(), verifierOfAuthority(),
		&assay.Sender{Client: server}, minted("app-receipt"))
	if err != nil || decision.Plan != "premium" || len(server.said) != 0 {
		log.Fatal(fmt.Sprint(err, decision))
	}
}
