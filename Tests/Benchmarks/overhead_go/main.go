// Command overhead measures what a call through the Go module costs; the protocol
// is in overhead.py.
//
//	overhead CONFIG_FILE JWS_FILE NOW_MS COUNT
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"syscall"
	"time"

	assay "assay.example/bindings/go"
)

const (
	rounds = 7
	warmUp = 200
)

// facts are the ones that every language reads out.
type facts struct {
	transactionID, originalTransactionID, productID, bundleID string
	environment                                               assay.Environment
	productType                                               assay.ProductType
	purchaseDate, expiresDate                                 time.Time
	quantity                                                  int64
	ownership                                                 assay.OwnershipType
}

// seen keeps the compiler from leaving a fact out.
var seen facts

func call(verifier *assay.Verifier, jws string, now time.Time) error {
	found, err := verifier.VerifyTransaction(context.Background(), jws, assay.At(now))
	if err != nil {
		return err
	}
	seen = facts{
		found.TransactionID, found.OriginalTransactionID, found.ProductID, found.BundleID,
		found.Environment, found.Type, found.PurchaseDate, found.ExpiresDate,
		found.Quantity, found.InAppOwnershipType,
	}
	found.Close()
	return nil
}

func calls(verifier *assay.Verifier, jws string, now time.Time, count int) error {
	for i := 0; i < count; i++ {
		if err := call(verifier, jws, now); err != nil {
			return err
		}
	}
	return nil
}

// processorTime is the CPU time of the process, its garbage collector's threads
// included, in nanoseconds.
func processorTime() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func run(arguments []string) error {
	if len(arguments) != 4 {
		return fmt.Errorf("usage: overhead CONFIG_FILE JWS_FILE NOW_MS COUNT")
	}
	config, err := os.ReadFile(arguments[0])
	if err != nil {
		return err
	}
	jws, err := os.ReadFile(arguments[1])
	if err != nil {
		return err
	}
	ms, err := strconv.ParseInt(arguments[2], 10, 64)
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(arguments[3])
	if err != nil {
		return err
	}
	verifier, err := assay.NewVerifier(config)
	if err != nil {
		return err
	}
	defer verifier.Close()
	now, text := time.UnixMilli(ms), string(jws)
	if err := calls(verifier, text, now, warmUp); err != nil {
		return err
	}
	var took []float64
	for round := 0; round < rounds; round++ {
		begin := processorTime()
		if err := calls(verifier, text, now, count); err != nil {
			return err
		}
		took = append(took, float64(processorTime()-begin)/float64(count))
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"language": "go", "ns": took})
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}
