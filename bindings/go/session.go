package assay

import (
	"context"
	"time"
)

// Sessions makes and verifies session tokens. Made by Verifier.Sessions.
type Sessions struct{ verifier *Verifier }

// Sessions is what makes and verifies session tokens.
func (v *Verifier) Sessions() *Sessions { return &Sessions{v} }

// An IssueSessionRequest is what IssueSession puts into a session token.
type IssueSessionRequest struct {
	// 1 to 255 bytes, no space at either end.
	Account string
	// Good for free calls, and for metered ones that you count.
	Limited bool
	// The metric of the key's receipt, where it is known.
	Risk *int64
	// What the caller must show again, at most 255 bytes: best origin_jti of its access
	// token. May be empty.
	Binding string
	// At most an hour; 0: session.ttlMs of the configuration.
	Life time.Duration
}

// IssueSession makes a session token: this account proved this key a short while ago.
// evidence is one attestation or assertion of this verifier. Issue it only when challenge
// and counter were stored: the library does not see the store.
//
// Needs the block `session` (ErrConfig). The error is ErrMisuse for evidence that was
// refused, is of another kind or was judged by `attest.time` "stored".
func (s *Sessions) IssueSession(
	ctx context.Context, evidence Evidence, session IssueSessionRequest, options ...Option,
) (*IssuedSession, error) {
	request := given{"operation": "issue-session", "account": session.Account}.
		text("binding", session.Binding).milliseconds("ttlMs", session.Life)
	if session.Limited {
		request["verdict"] = "limited"
	}
	if session.Risk != nil {
		request["risk"] = *session.Risk
	}
	document, err := s.verifier.atOnce(ctx, request, options, evidence)
	return verified[IssuedSession](document, err, "exchange", "session")
}

// A Purpose is what a request asks for.
type Purpose string

// What session tokens are good for, but for the last two: those need an assertion.
const (
	PurposeRead    Purpose = "read"
	PurposeFree    Purpose = "free"
	PurposeMetered Purpose = "metered"
	PurposeRestore Purpose = "restore"
	PurposePromo   Purpose = "promo"
	PurposePaid    Purpose = "paid"
)

// A VerifySessionRequest is who must have the session.
type VerifySessionRequest struct {
	// The account of the caller's access token: always give it where there is one.
	Account string
	// What was given when the session was issued.
	Binding string
}

// VerifySession says what a session token proves, without any store. The error is
// ErrRejected, ErrMalformed or ErrTooLarge for a text that is forged, over, of somebody
// else, or not enough: ask the app for a new assertion.
func (s *Sessions) VerifySession(
	ctx context.Context, session string, purpose Purpose, owner VerifySessionRequest,
	options ...Option,
) (*Session, error) {
	request := given{"operation": "verify-session", "session": session, "purpose": purpose}.
		text("account", owner.Account).text("binding", owner.Binding)
	document, err := s.verifier.atOnce(ctx, request, options)
	return verified[Session](document, err, "exchange", "session")
}

// String says whose key it is and when it ends, not what it is.
func (s IssuedSession) String() string {
	return "session of " + s.KeyID + " until " + s.ExpiresAt.String()
}

// GoString is the same.
func (s IssuedSession) GoString() string { return s.String() }
