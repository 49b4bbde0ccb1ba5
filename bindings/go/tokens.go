package assay

import (
	"context"
	"runtime"

	"assay.example/bindings/go/internal/libassay"
)

// A Keyset has the public keys of a token issuer: a JSON Web Key Set (RFC 7517).
//
// It remembers which tokens it has verified, so keep and share it: goroutines may call every
// method at once. A refreshed set is another Keyset.
type Keyset struct {
	handle libassay.Handle
	facts  *IssuerKeys
}

// NewKeyset decodes the key set that an issuer publishes: JSON in a string, []byte or
// json.RawMessage, or any other value, which is marshalled. A member issuer beside keys names
// the issuer if the configuration has several.
//
// The error is ErrMalformed or ErrTooLarge if it is not a key set; ErrRejected for a set with
// a key that must not be published, such as a private one: keep the old set, and raise an
// alarm.
func NewKeyset(jwks any) (*Keyset, error) {
	if err := fitting(); err != nil {
		return nil, err
	}
	text, err := jsonText(jwks, "jwks")
	if err != nil {
		return nil, err
	}
	answer, made := libassay.NewKeyset(libassay.Given(text))
	keys := new(Keyset)
	if !made.Empty() {
		keys.handle.Hold(made)
		runtime.SetFinalizer(keys, (*Keyset).finalize)
	}
	document, err := answered(answer)
	if keys.facts, err = verified[IssuerKeys](document, err, "keyset"); err != nil {
		keys.Close()
		return nil, err
	}
	return keys, nil
}

func (k *Keyset) finalize() { k.handle.Close() }

// Close frees the key set when the running calls have ended; it does not wait for them. Later
// calls return ErrClosed. Closing twice is allowed.
func (k *Keyset) Close() {
	k.handle.Close()
	runtime.SetFinalizer(k, nil)
}

// Facts returns the keys, and the skipped ones with the reason.
func (k *Keyset) Facts() *IssuerKeys { return k.facts }

// VerifyToken verifies an access token: which account is calling, proven by a key of a
// configured issuer.
//
// token is the compact JWS without the word Bearer; keys is the key set of its issuer, one of
// those in `tokens` of the configuration. Subject of the result is the account; sign-out and
// deletion of a user are not detected.
//
// The error is ErrRejected if the token is not genuine, has expired, or is of another issuer,
// app or use; after rejected.token.unknown-key the member error.keyset of its document is
// "refresh" (fetch the key set once) or "cooldown" (refuse). It is ErrUnavailable for a key
// set that is too old; ErrMisuse for one of no configured issuer, or a time outside 2008 …
// 2100; ErrMalformed, ErrUnsupported or ErrTooLarge if the text is not such a token; ErrClosed
// after Close.
func (v *Verifier) VerifyToken(
	ctx context.Context, token string, keys *Keyset, options ...Option,
) (*Token, error) {
	chosen, err := begun(ctx, options, 0)
	if err != nil {
		return nil, err
	}
	answer, open := libassay.VerifyToken(&v.handle, &keys.handle, libassay.Given(token),
		chosen.now)
	runtime.KeepAlive(keys)
	document, err := v.own(answer, open)
	return verified[Token](document, err, "token")
}
