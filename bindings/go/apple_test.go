package assay

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestApple runs the cases of Sign in with Apple through their own methods.
func TestApple(t *testing.T) {
	cases, seen := theCases(t), map[string]int{}
	for i := range cases.Cases {
		each := &cases.Cases[i]
		var request struct {
			Operation, Token, Payload string
			Nonce                     *string
		}
		if each.Call != "exchange" || len(each.Evidence) != 1 ||
			each.Evidence[0].Kind != KindKeyset ||
			strings.HasPrefix(each.Expect.Status, "misuse.exchange.") ||
			json.Unmarshal(each.input(t, "request"), &request) != nil ||
			(request.Nonce != nil && *request.Nonce == "") {
			continue
		}
		seen[request.Operation]++
		keys, err := NewKeyset(each.Evidence[0].input(t, "jwks"))
		must(t, err)
		verifier := cases.verifier(t, each.Verifier)
		if request.Operation == "verify-apple-identity-token" {
			nonce := ""
			if request.Nonce != nil {
				nonce = *request.Nonce
			}
			token, err := verifier.VerifyAppleIdentityToken(
				ctx, request.Token, keys, nonce, each.at())
			if document := checkOutcome(t, token, err, each); err == nil {
				checkDocument(t, document, each)
			}
		} else {
			event, err := verifier.VerifySignInNotification(
				ctx, request.Payload, keys, each.at())
			if err != nil {
				checkRefusal(t, err, each)
			} else if event.TokenID == "" || event.IssuedAt.IsZero() ||
				each.Expect.Status != "ok" {
				t.Errorf("%s: %+v", each.Name, event)
			}
		}
		keys.Close()
	}
	if seen["verify-apple-identity-token"] < 20 || seen["verify-sign-in-notification"] < 20 ||
		len(seen) != 2 {
		t.Errorf("only %v", seen)
	}
}
