package assay

import "context"

// VerifyAppleIdentityToken verifies an identity token of Sign in with Apple: who signs in, and
// that it is this sign-in. It signs in once; issue your own session.
//
// token is what the app sent; keys is the key set of Apple; nonce is the one that you issued
// for this sign-in and now take back, empty only where `tokens` says nonce "none".
//
// Needs a profile apple-id in `tokens` (ErrConfig). The error is ErrRejected when it is not
// genuine, has expired, is of another app, or of another sign-in (rejected.token.nonce);
// after rejected.token.unknown-key error.keyset is as for VerifyToken. ErrMisuse without
// the nonce, or for the key set of another issuer; ErrUnavailable for one that is too old;
// ErrMalformed, ErrUnsupported or ErrTooLarge when it is no such token; ErrClosed.
func (v *Verifier) VerifyAppleIdentityToken(
	ctx context.Context, token string, keys *Keyset, nonce string, options ...Option,
) (*Token, error) {
	request := given{"operation": "verify-apple-identity-token", "token": token}.
		text("nonce", nonce)
	document, err := v.atOnce(ctx, request, options, keys.facts)
	return verified[Token](document, err, "exchange", "token")
}

// VerifySignInNotification verifies what Apple tells about an account that signs in with it:
// payload is the member of that name in what it posted. Deliveries repeat: act once on each
// TokenID. Answer 200 after storing, 400 for a refusal.
func (v *Verifier) VerifySignInNotification(
	ctx context.Context, payload string, keys *Keyset, options ...Option,
) (*AppleAccountEvent, error) {
	request := given{"operation": "verify-sign-in-notification", "payload": payload}
	document, err := v.atOnce(ctx, request, options, keys.facts)
	return verified[AppleAccountEvent](document, err, "exchange", "appleIdEvent")
}

// String says when they end, not what they are.
func (t AppleTokens) String() string { return "tokens until " + t.ExpiresAt.String() }

// GoString is the same.
func (t AppleTokens) GoString() string { return t.String() }
