package assay

import (
	"context"
	"runtime"

	"assay.example/bindings/go/internal/libassay"
)

// A Keyset holds the public keys of a token issuer: a JSON Web Key Set, read once.
//
// It remembers which texts it has verified, so keep it, and share it: every method may
// be called by many goroutines at once. A refreshed set is a new one.
type Keyset struct {
	handle libassay.Handle
	facts  *IssuerKeys
}

// NewKeyset reads what an issuer publishes: a string, []byte or json.RawMessage with
// JSON, or any other value, which is marshalled. A member issuer beside keys says whose
// it is where the configuration has several issuers.
//
// The error is ErrMalformed or ErrTooLarge when it is no key set; ErrRejected for one
// with a key that must not be there, such as a private one: keep the old set, and raise
// an alarm.
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

// Close frees the key set when the calls under way have ended; it does not wait for
// them. Later calls answer ErrClosed. Closing twice is allowed.
func (k *Keyset) Close() {
	k.handle.Close()
	runtime.SetFinalizer(k, nil)
}

// Facts are its keys, and those that were skipped with the reason.
func (k *Keyset) Facts() *IssuerKeys { return k.facts }

// VerifyToken verifies an access token: who is calling, proven by a key of a configured
// issuer.
//
// token is the compact JWS alone, without the word Bearer; keys is the key set of its
// issuer, one of those in `tokens` of the configuration. Subject of the answer is the
// account; sign-out and deleted users are not seen.
//
// The error is ErrRejected when it is not genuine, has expired, or is of another
// issuer, app or use; after rejected.token.unknown-key the member error.keyset of its
// document says whether to fetch the key set once ("refresh") or to refuse ("cooldown").
// ErrUnavailable for a key set that is too old; ErrMisuse for one of no configured
// issuer, or a time outside 2008 … 2100; ErrMalformed, ErrUnsupported or ErrTooLarge when
// it is no such token; ErrClosed.
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
