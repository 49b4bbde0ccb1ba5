// Package assay verifies what Apple signs, in this process and offline, and decides from it
// which plan an account has.
//
// A Verifier is made once from a configuration and shared by all goroutines. Each kind of
// evidence has a method that returns typed facts, or an *Error whose family determines how to
// react:
//
//	verifier, err := assay.NewVerifier(config)
//	transaction, err := verifier.VerifyTransaction(ctx, jws)
//	if errors.Is(err, assay.ErrRejected) {
//		// not genuine, or not ours
//	}
//	decision, err := verifier.Decide(ctx, []assay.Evidence{transaction})
//
// Decisions take facts and documents that this process verified, never JSON: keep the signed
// text in your database, and verify it again when it is needed.
//
// The package links libassay with cgo; pkg-config finds it under the name assay.
package assay
