package main

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"net/http"
	"os"
	"strings"

	assay "assay.example/bindings/go"
	"assay.example/bindings/go/ledger"
	_ "github.com/mattn/go-sqlite3"
)

// A shop is what stands behind the routes of main.go, whatever their framework.
type shop struct {
	ledger *ledger.Ledger
	keys   *assay.Keyset
}

// open reads config.json and keys.json of the current folder.
func open(ctx context.Context) (*shop, error) {
	config, err := os.ReadFile("config.json")
	if err != nil {
		return nil, err
	}
	jwks, err := os.ReadFile("keys.json")
	if err != nil {
		return nil, err
	}
	keys, err := assay.NewKeyset(string(jwks))
	if err != nil {
		return nil, err
	}
	opened, err := ledger.Open(ctx, "sqlite3", "./shop.db", string(config))
	return &shop{opened, keys}, err
}

// setup makes the tables of the ledger and the shop's own: once, before the first request.
func (s *shop) setup(ctx context.Context) error {
	if err := s.ledger.CreateSchema(ctx); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", "./shop.db")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "CREATE TABLE booking (id TEXT PRIMARY KEY,"+
		" account TEXT NOT NULL, units INTEGER NOT NULL)")
	return err
}

// payOut books in the transaction of the claim: both are stored, or neither is.
func payOut(ctx context.Context, grant *ledger.Grant) error {
	return book(ctx, grant.Tx, grant.ID, grant.Account, grant.Units)
}

// takeBack books in the transaction of the refund.
func takeBack(ctx context.Context, take *ledger.Take) error {
	return book(ctx, take.Tx, take.ID, take.Account, -take.Units)
}

// book inserts a booking. A customer has the sum of these and needs no row before the first;
// the same id enters once.
func book(ctx context.Context, tx ledger.Tx, id, account string, units int64) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO booking VALUES (?, ?, ?)", id, account, units)
	return err
}

// An answer is the status and the JSON of a response.
type answer struct {
	status int
	body   map[string]string
}

// deferred asks the app to keep its purchase, and Apple its notification, and to come again.
func deferred(status int) answer {
	return answer{status, map[string]string{"answer": "deferred"}}
}

// retryAfter returns the header Retry-After, in seconds; empty if the answer is definite.
func (a answer) retryAfter() string {
	if a.body["answer"] == "deferred" {
		return "5"
	}
	return ""
}

// refused logs status, place and hint, none of them secret; the client gets one text for all.
func refused(err error) answer {
	log.Print(err)
	status := http.StatusInternalServerError
	var refusal *assay.Error
	if errors.As(err, &refusal) {
		status = refusal.HTTPStatus
	}
	if status == http.StatusServiceUnavailable {
		return deferred(status)
	}
	return answer{status, map[string]string{"error": "refused"}}
}

// purchase pays out what an app bought, once.
func (s *shop) purchase(ctx context.Context, authorization, jws string) answer {
	bearer := strings.TrimPrefix(authorization, "Bearer ")
	token, err := s.ledger.Verifier().VerifyToken(ctx, bearer, s.keys)
	if err != nil {
		return refused(err)
	}
	defer token.Close()
	claimed, err := s.ledger.Claim(ctx, ledger.ClaimRequest{
		JWS: jws, Account: token.Subject, Grant: payOut})
	if err != nil {
		return refused(err)
	}
	if claimed.HTTPStatus != http.StatusOK {
		log.Print(claimed.Status)
	}
	return answer{claimed.HTTPStatus, map[string]string{"answer": claimed.ClientResult}}
}

// notify stores what happened at Apple, then answers 200: Apple repeats everything else.
func (s *shop) notify(ctx context.Context, signedPayload string) answer {
	done := answer{http.StatusOK, map[string]string{}}
	note, err := s.ledger.Verifier().VerifyNotification(ctx, signedPayload)
	if errors.Is(err, assay.ErrUnsupported) { // genuine, and newer than this version
		log.Print(err)
		return done
	}
	if err != nil {
		return refused(err)
	}
	defer note.Close()
	if note.Transaction == nil {
		return done
	}
	event, err := s.ledger.ApplyEvent(ctx, ledger.ApplyEventRequest{Grant: payOut,
		RevokeRequest: ledger.RevokeRequest{Evidence: []assay.Evidence{note},
			TakeBack: takeBack, GrantMode: ledger.Transaction}})
	if err != nil {
		return refused(err)
	}
	for _, part := range event.Refused { // for good: it would be refused again
		log.Printf("%s of %s: %s", part.At, part.TransactionID, part.Status)
	}
	if event.HTTPStatus != http.StatusOK {
		return deferred(event.HTTPStatus)
	}
	return done
}
