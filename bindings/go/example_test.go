package assay_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	assay "assay.example/bindings/go"
)

// now is fixed so that the output is always the same; a server omits assay.At.
var now = time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC)

var ctx = context.Background()

const config = `{
	"apps": [{"bundleId": "com.example.app", "appAppleId": 1234567890}],
	"plans": ["free", "premium"],
	"products": {"premium.monthly": {"plan": "premium", "type": "auto-renewable"}}
}`

func newVerifier() *assay.Verifier {
	verifier, err := assay.NewVerifier(config)
	if err != nil {
		log.Fatal(err)
	}
	return verifier
}

func ExampleNewVerifier() {
	_, err := assay.NewVerifier(`{"apps": [{"bundleId": "com.example.app"}], "plnas": ["free"]}`)
	var refused *assay.Error
	if errors.Is(err, assay.ErrConfig) && errors.As(err, &refused) {
		fmt.Println(refused.Name, "at", refused.Place)
	}
	// Output: config.document.unknown-member at plnas
}

func ExampleVerifier_VerifyTransaction() {
	verifier := newVerifier()
	defer verifier.Close()
	transaction, err := verifier.VerifyTransaction(ctx, "not.a.jws", assay.At(now))
	var refused *assay.Error
	switch {
	case err == nil:
		fmt.Println(transaction.ProductID, "until", transaction.ExpiresDate)
	case errors.As(err, &refused):
		fmt.Println(refused.HTTPStatus, refused.Name)
		fmt.Println(errors.Is(err, assay.ErrMalformed), errors.Is(err, assay.ErrRejected))
	}
	// Output:
	// 400 malformed.jws.signature-length
	// true false
}

func ExampleVerifier_Triage() {
	verifier := newVerifier()
	defer verifier.Close()
	finding, err := verifier.Triage(ctx, []byte("aGVsbG8="), assay.At(now))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(finding.WorthVerifying(), finding.Category, finding.Disposition)
	// Output: false cracking-tool drop
}

func ExampleVerifier_AssessRisk() {
	verifier := newVerifier()
	defer verifier.Close()
	risk, err := verifier.AssessRisk(ctx, map[string]any{
		"request": "promo", "attestation": "unsupported", "platform": "ios", "osMajor": 27,
	}, assay.At(now))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(risk.Verdict, risk.Reasons, risk.Status().HTTPStatus())
	// Output: deny [RSK-16] 403
}

func ExampleCheckExpiry() {
	stored := assay.Dates{Expires: now.Add(-time.Hour), Grace: now.Add(24 * time.Hour)}
	for _, later := range []time.Duration{0, 48 * time.Hour} {
		expiry, err := assay.CheckExpiry(stored, now.Add(later))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(expiry.InForce, expiry.Status)
	}
	// Output:
	// true ok
	// false rejected.expiry.expired
}

func ExampleStatus() {
	verifier := newVerifier()
	defer verifier.Close()
	document, err := verifier.Verify(ctx, assay.KindTransaction, []byte("x"), assay.At(now))
	if err != nil {
		log.Fatal(err)
	}
	status := document.Status()
	fmt.Println(status, status.OK(), status.HTTPStatus())
	// Output: malformed.jws.form false 400
}

// An operation that needs no step is done at once; Run drives the others, and its runner runs
// each step.
func ExampleExchange_Run() {
	verifier := newVerifier()
	defer verifier.Close()
	exchange, err := verifier.Exchange(ctx, map[string]any{
		"operation": "normalize-device-token", "deviceToken": "dG9rZW4=",
	}, nil, assay.At(now))
	if err != nil {
		log.Fatal(err)
	}
	document, err := exchange.Run(ctx, func(context.Context, *assay.Exchange) (any, error) {
		return nil, errors.New("this kind asks for nothing")
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(document.OK(), exchange.StepName())
	// Output: true done
}
