package assay

import "context"

// VerifyAppleIdentityToken verifies an identity token of Sign in with Apple: which user signs
// in, and that the token was issued for this sign-in. A token is good for one sign-in; issue a
// session of your own afterwards.
//
// token is what the app sent; keys is the key set of Apple; nonce is the one that you issued
// for this sign-in and have now consumed. It is empty only if `tokens` of the configuration
// has nonce "none".
//
// Needs a profile apple-id in `tokens` (ErrConfig). The error is ErrRejected if the token is
// not genuine, has expired, is of another app, or of another sign-in (rejected.token.nonce);
// after rejected.token.unknown-key error.keyset is as described at VerifyToken. It is
// ErrMisuse without the nonce, or for the key set of another issuer; ErrUnavailable for a key
// set that is too old; ErrMalformed, ErrUnsupported or ErrTooLarge if the text is not an
// identity token; ErrClosed after Close.
func (v *Verifier) VerifyAppleIdentityToken(
	ctx context.Context, token string, keys *Keyset, nonce string, options ...Option,
) (*Token, error) {
	request := given{"operation": "verify-apple-identity-token", "token": token}.
		text("nonce", nonce)
	document, err := v.atOnce(ctx, request, options, keys.facts)
	return verified[Token](document, err, "exchange", "token")
}

// VerifySignInNotification verifies a server-to-server notification of Sign in with Apple.
// payload is the member of that name in the body that Apple posted. Apple may deliver one
// notification several times: act once on each TokenID. Answer 200 after storing it, 400 for a
// refusal.
func (v *Verifier) VerifySignInNotification(
	ctx context.Context, payload string, keys *Keyset, options ...Option,
) (*AppleAccountEvent, error) {
	request := given{"operation": "verify-sign-in-notification", "payload": payload}
	document, err := v.atOnce(ctx, request, options, keys.facts)
	return verified[AppleAccountEvent](document, err, "exchange", "appleIdEvent")
}

// String returns when the tokens expire, without their text.
func (t AppleTokens) String() string { return "tokens until " + t.ExpiresAt.String() }

// GoString returns the same text as String.
func (t AppleTokens) GoString() string { return t.String() }
