package assay

import (
	"context"
	"time"
)

// Sessions issues and verifies session tokens. Verifier.Sessions makes one.
type Sessions struct{ verifier *Verifier }

// Sessions returns the object that issues and verifies session tokens.
func (v *Verifier) Sessions() *Sessions { return &Sessions{v} }

// An IssueSessionRequest is the content of a session token.
type IssueSessionRequest struct {
	// Account is 1 to 255 bytes, without a space at either end.
	Account string
	// Whether the session is good only for free requests, and for metered ones that you count.
	Limited bool
	// Risk is the risk metric of the key's receipt; nil if unknown.
	Risk *int64
	// Binding is a text that the caller must present again, at most 255 bytes, preferably
	// origin_jti of its access token. May be empty.
	Binding string
	// Life is at most an hour; 0 means session.ttlMs of the configuration.
	Life time.Duration
}

// IssueSession issues a session token: this account proved possession of this device key a
// short while ago. evidence is one attestation or assertion of this verifier. Issue a session
// only after challenge and counter were stored: the library does not check the database.
//
// Needs the block `session` (ErrConfig). The error is ErrMisuse for evidence that was refused,
// is of another kind or was verified with `attest.time` "stored".
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

// A Purpose is the kind of request that a session is needed for.
type Purpose string

// The purposes. A session token is sufficient for all but the last two, which need an
// assertion.
const (
	PurposeRead    Purpose = "read"
	PurposeFree    Purpose = "free"
	PurposeMetered Purpose = "metered"
	PurposeRestore Purpose = "restore"
	PurposePromo   Purpose = "promo"
	PurposePaid    Purpose = "paid"
)

// A VerifySessionRequest is the expected owner of a session.
type VerifySessionRequest struct {
	// Account is that of the caller's access token: always set it if there is one.
	Account string
	// Binding is the one with which the session was issued.
	Binding string
}

// VerifySession verifies a session token, without any database. The error is ErrRejected,
// ErrMalformed or ErrTooLarge for a token that is forged, expired, of another account or not
// sufficient for the purpose: ask the app for a new assertion.
func (s *Sessions) VerifySession(
	ctx context.Context, session string, purpose Purpose, owner VerifySessionRequest,
	options ...Option,
) (*Session, error) {
	request := given{"operation": "verify-session", "session": session, "purpose": purpose}.
		text("account", owner.Account).text("binding", owner.Binding)
	document, err := s.verifier.atOnce(ctx, request, options)
	return verified[Session](document, err, "exchange", "session")
}

// String returns the key id and when the session expires, without the token.
func (s IssuedSession) String() string {
	return "session of " + s.KeyID + " until " + s.ExpiresAt.String()
}

// GoString returns the same text as String.
func (s IssuedSession) GoString() string { return s.String() }
