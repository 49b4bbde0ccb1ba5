// Frame of a Go fragment that has a configuration, and answers with an error.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
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

func decide(ctx context.Context, config, jws string) error {
	// SNIPPET
	if decision == nil || decision.Plan != "premium" {
		return fmt.Errorf("another decision: %v", decision)
	}
	return err
}

func main() {
	config, err := os.ReadFile("authority/config.json")
	if err != nil {
		log.Fatal(err)
	}
	jws := minted("transaction", "--product", "com.example.app.premium.monthly",
		"--environment", "Production")
	if err := decide(context.Background(), string(config), jws); err != nil {
		log.Fatal(err)
	}
	// A forged one ends in the fragment's own answer.
	forged := minted("transaction", "--forge", "JWS-20")
	if err := decide(context.Background(), string(config), forged); !errors.Is(err, assay.ErrRejected) {
		log.Fatal(err)
	}
}
