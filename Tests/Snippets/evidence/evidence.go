// Evidence for the frames of Go blocks, minted into the folder of the page, and a verifier
// with the test authority's roots; Apple is a client that says what was minted.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"strings"

	assay "assay.example/bindings/go"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func minted(arguments ...string) string {
	all := append([]string{"mint"}, arguments...)
	text, err := exec.Command("assay", append(all, "--authority", "authority")...).Output()
	check(err)
	return strings.TrimSpace(string(text))
}

// authority is the configuration with its roots: there is one after the first minting.
func authority() string {
	text, err := os.ReadFile("authority/config.json")
	check(err)
	return string(text)
}

func verifierOfAuthority() *assay.Verifier {
	verifier, err := assay.NewVerifier(authority())
	check(err)
	return verifier
}

type apple struct{ said []string }

func (a *apple) Do(*http.Request) (*http.Response, error) {
	body := io.NopCloser(strings.NewReader(a.said[0]))
	a.said = a.said[1:]
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: body}, nil
}
