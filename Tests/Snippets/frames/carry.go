// Frame of docs/tasks/carrying-out.md: Apple is a client that says what was minted.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strings"

	assay "assay.example/bindings/go"
)

func minted(kind string) string {
	text, err := exec.Command("assay", "mint", kind, "--authority", "authority").Output()
	if err != nil {
		log.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

type apple struct{ said string }

func (a *apple) Do(*http.Request) (*http.Response, error) {
	body := io.NopCloser(strings.NewReader(a.said))
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body}, nil
}

func queue(*assay.Document) error { return errors.New("nothing is to be queued") }

func ask(ctx context.Context, exchange *assay.Exchange, sender *assay.Sender) error {
	// SNIPPET
}

func main() {
	config, err := os.ReadFile("authority/config.json")
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := assay.NewVerifier(string(config))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	exchange, err := verifier.Exchange(ctx, map[string]string{
		"kind": "verifyReceipt", "receipt": minted("app-receipt")}, nil)
	if err != nil {
		log.Fatal(err)
	}
	sender := &assay.Sender{Client: &apple{minted("verify-receipt")}}
	if err := ask(ctx, exchange, sender); err != nil {
		log.Fatal(err)
	}
}
