// Frame of docs/tasks/verify-receipt.md: Apple is a client that says what was minted.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strings"

	assay "assay.example/bindings/go"
)

func minted(arguments ...string) string {
	all := append([]string{"mint"}, arguments...)
	text, err := exec.Command("assay", append(all, "--authority", "authority")...).Output()
	if err != nil {
		log.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

type apple struct{ said []string }

func (a *apple) Do(*http.Request) (*http.Response, error) {
	body := io.NopCloser(strings.NewReader(a.said[0]))
	a.said = a.said[1:]
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body}, nil
}

func ask(
	ctx context.Context, verifier *assay.Verifier, sender *assay.Sender, text string,
) (*assay.Decision, error) {
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
	server := &apple{[]string{
		minted("verify-receipt", "--apple-status", "21007"), minted("verify-receipt")}}
	decision, err := ask(
		context.Background(), verifier, &assay.Sender{Client: server}, minted("app-receipt"))
	if err != nil || decision.Plan != "premium" || len(server.said) != 0 {
		log.Fatal(fmt.Sprint(err, decision))
	}
}
