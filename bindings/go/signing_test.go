package assay

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"
)

// signing returns a verifier with every key, and the key.
func signing(t *testing.T) (*Verifier, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	octets, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	file := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: octets}))
	block := map[string]any{"keyId": "KEYID12345", "privateKey": file}
	verifier, err := NewVerifier(map[string]any{
		"apps": []any{map[string]any{"bundleId": "com.example.app", "appAppleId": 1,
			"teamId": "ABCDE12345"}},
		"appStoreServerApi": map[string]any{"keyId": "KEYID12345", "privateKey": file,
			"issuerId": "57246542-96fe-1a63-e053-0824d011072a"},
		"deviceCheck": block, "appleId": block,
	})
	must(t, err)
	t.Cleanup(verifier.Close)
	return verifier, key
}

// claims returns the claims of a token, after verifying its signature.
func claims(t *testing.T, key *ecdsa.PrivateKey, token string) map[string]any {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("the token has %d parts", len(parts))
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	must(t, err)
	if len(signature) != 64 {
		t.Fatalf("the signature has %d octets", len(signature))
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if !ecdsa.Verify(&key.PublicKey, digest[:], r, s) {
		t.Error("the signature does not verify")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	must(t, err)
	found := map[string]any{}
	must(t, json.Unmarshal(payload, &found))
	return found
}

func TestSignTokens(t *testing.T) {
	verifier, key := signing(t)
	token, err := verifier.Signer().SignAPIToken(ctx, "", At(moment))
	must(t, err)
	found := claims(t, key, token.Token)
	if found["bid"] != "com.example.app" || found["aud"] != "appstoreconnect-v1" ||
		int64(found["exp"].(float64)) != token.ExpiresAt.Unix() {
		t.Errorf("the token says %v", found)
	}
	device, err := verifier.Signer().SignDeviceCheckToken(ctx, At(moment))
	must(t, err)
	if found := claims(t, key, device.Token); found["iss"] != "ABCDE12345" {
		t.Errorf("the token says %v", found)
	}
	secret, err := verifier.Signer().SignAppleClientSecret(
		ctx, "com.example.app", time.Minute, At(moment))
	must(t, err)
	if found := claims(t, key, secret.ClientSecret); found["sub"] != "com.example.app" ||
		int64(found["exp"].(float64)) != secret.ExpiresAt.Unix() {
		t.Errorf("the client secret says %v", found)
	}
	if _, err := newVerifier(t).Signer().SignAPIToken(ctx, ""); !errors.Is(err, ErrConfig) {
		t.Errorf("without a key: %v", err)
	}
}

func TestSignOffers(t *testing.T) {
	verifier, key := signing(t)
	offer, err := verifier.Signer().SignPromotionalOffer(ctx, SignPromotionalOfferRequest{
		ProductID: "p1", OfferID: "o1", TransactionID: "7"}, At(moment))
	must(t, err)
	if found := claims(t, key, offer.JWS); found["offerIdentifier"] != "o1" ||
		found["nonce"] != offer.Nonce {
		t.Errorf("the offer says %v", found)
	}
	offer, err = verifier.Signer().SignIntroductoryOfferEligibility(ctx,
		SignIntroductoryOfferEligibilityRequest{ProductID: "p1", TransactionID: "7"}, At(moment))
	must(t, err)
	if found := claims(t, key, offer.JWS); found["allowIntroductoryOffer"] != false {
		t.Errorf("the offer says %v", found)
	}
	old, err := verifier.Signer().SignPromotionalOfferV1(ctx, SignPromotionalOfferV1Request{
		ProductID: "p1", OfferID: "o1", ApplicationUsername: "User", Timestamp: moment}, At(moment))
	must(t, err)
	signature, err := base64.StdEncoding.DecodeString(old.Signature)
	must(t, err)
	text := strings.Join([]string{"com.example.app", "KEYID12345", "p1", "o1", "user", old.Nonce,
		fmt.Sprint(moment.UnixMilli())}, "\u2063")
	digest := sha256.Sum256([]byte(text))
	if !ecdsa.VerifyASN1(&key.PublicKey, digest[:], signature) {
		t.Error("the signature does not verify")
	}
	_, err = verifier.Signer().SignPromotionalOffer(ctx, SignPromotionalOfferRequest{OfferID: "o1"})
	if !errors.Is(err, ErrMisuse) {
		t.Errorf("an offer of no product: %v", err)
	}
}

func TestSessions(t *testing.T) {
	cases := theCases(t)
	verifier := cases.verifier(t, "signing")
	_, err := verifier.Sessions().VerifySession(
		ctx, "as1~e30~"+strings.Repeat("A", 43), PurposeRead,
		VerifySessionRequest{Account: "account-1"})
	if !errors.Is(err, ErrRejected) {
		t.Errorf("a session that nobody signed: %v", err)
	}
	document, err := verifier.atOnce(ctx, map[string]any{
		"operation": "normalize-key-id", "keyId": strings.Repeat("A", 43)}, nil)
	must(t, err)
	_, err = verifier.Sessions().IssueSession(
		ctx, document, IssueSessionRequest{Account: "account-1"})
	if !errors.Is(err, ErrMisuse) {
		t.Errorf("a session from no evidence: %v", err)
	}
	for _, entry := range cases.Cases {
		if entry.Call != "exchange" || entry.Rule != "SES-15" {
			continue
		}
		var text string
		must(t, json.Unmarshal(entry.member("request"), &text))
		var request struct{ Session, Purpose string }
		must(t, json.Unmarshal([]byte(text), &request))
		found, err := verifier.Sessions().VerifySession(
			ctx, request.Session, Purpose(request.Purpose),
			VerifySessionRequest{Account: "account-1"}, At(time.UnixMilli(*entry.Now)))
		must(t, err)
		if found.Account != "account-1" || found.Limited || found.Verdict != "allow" {
			t.Errorf("the session says %+v", found)
		}
	}
}
