package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	assay "assay.example/bindings/go"
)

// A Ledger is purchases that are paid out once, subscriptions, quotas, sign-ups and keys.
// Many goroutines share one.
//
// What the ledger says about a purchase is an answer: Claim, Resume, Complete and
// CompleteRevocation return it without an error, whatever it is; so does RecordEvent. Everything
// else that is refused is an *assay.Error, beside what is known. The error is
// assay.ErrUnavailable when the store is away: answer 503.
type Ledger struct {
	// Clock is the time; nil: time.Now. Set it before the first call.
	Clock func() time.Time

	executor Executor
	verifier *assay.Verifier

	mutex sync.Mutex
	// Which store it was, at the first look (STO-78).
	lineage string
}

// New is a ledger over an executor. The configuration of verifier has the block `ledger` for
// its engine.
func New(executor Executor, verifier *assay.Verifier) *Ledger {
	return &Ledger{executor: executor, verifier: verifier}
}

// engines are the names under which drivers register themselves.
var engines = map[string]string{
	"sqlite3": "sqlite", "sqlite": "sqlite", "postgres": "postgres", "pgx": "postgres",
	"mysql": "mariadb",
}

// Open is a ledger over a driver of database/sql that you import, by its name and its own
// form of address: "sqlite3", "/srv/shop.db". The engine in `ledger` of the configuration is
// filled in. Tables, and SQLite's file, are made by CreateSchema alone, which an operator calls
// once: a store that is missing later is an error, not an empty one that would pay each
// purchase again (STO-78). A relative path of SQLite begins with "./".
func Open(_ context.Context, driverName, address string, config any) (*Ledger, error) {
	engine, known := engines[driverName]
	if !known {
		return nil, fmt.Errorf("%w: no statements for the driver %s", assay.ErrArgument, driverName)
	}
	store := &SQL{Engine: engine, own: true, driver: driverName}
	if engine == "sqlite" {
		file, err := fileOf(address)
		if err != nil {
			return nil, err
		}
		address, store.file, store.created = file.opened, file.path, file.created
	}
	db, err := sql.Open(driverName, address)
	if err != nil {
		return nil, err
	}
	store.DB = db
	ledger, err := WithExecutor(store, config)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return ledger, nil
}

// WithExecutor is the same over an executor of yours.
func WithExecutor(executor Executor, config any) (*Ledger, error) {
	text, err := configured(config, executor.EngineName())
	if err != nil {
		return nil, err
	}
	verifier, err := assay.NewVerifier(text)
	if err != nil {
		return nil, err
	}
	return New(executor, verifier), nil
}

// Verifier is what the ledger verifies with.
func (l *Ledger) Verifier() *assay.Verifier { return l.verifier }

// Close closes the verifier, and the database if Open opened it.
func (l *Ledger) Close() error {
	l.verifier.Close()
	if store, ok := l.executor.(*SQL); ok {
		return store.DB.Close()
	}
	return nil
}

// A GrantMode is how claim and grant stand together.
type GrantMode string

// In Transaction the grant writes with grant.Tx: its work and the claim stand together or
// not at all. In Lease it runs after the claim, over any store, and may run again for the same
// grant id after a crash: then it must do nothing.
const (
	Transaction GrantMode = "transaction"
	Lease       GrantMode = "lease"
	// Of take-backs: each is told once, and what becomes of it is yours.
	None GrantMode = "none"
)

// mode is the mode of a claim; where none is given it follows from the grant.
func (c ClaimRequest) mode() GrantMode {
	switch {
	case c.GrantMode != "":
		return c.GrantMode
	case c.Grant != nil:
		return Transaction
	}
	return Lease
}

// ---- inside: what the methods of ledger_calls.go end with

// claimed asks, and pays out: in the transaction of the claim, or after it.
func (l *Ledger) claimed(
	ctx context.Context, request *request, pay GrantFunc, found *ClaimResult,
) error {
	grant, called := pay, false
	if grant != nil {
		grant = func(ctx context.Context, given *Grant) error {
			called = true
			return pay(ctx, given)
		}
	}
	err := l.answer(ctx, request, effects{grant: grant}, found, &found.Result)
	if called && found.ClientResult == "deferred" && errors.Is(err, assay.ErrUnavailable) {
		// What the grant did may stand (STO-39): that is an answer.
		return nil
	}
	if err != nil || request.mode() != Lease {
		return err
	}
	return l.payOut(ctx, found.Grants(), pay, found.ended, found.later)
}

func (l *Ledger) resumed(
	ctx context.Context, request *request, pay GrantFunc, found *ResumeResult,
) error {
	if err := l.answer(ctx, request, effects{}, found, &found.Result); err != nil {
		return err
	}
	return l.payOut(ctx, found.Grants(), pay, found.ended, found.later)
}

func (l *Ledger) tookOver(
	ctx context.Context, request *request, pay GrantFunc, found *ResumeExpiredResult,
) error {
	if err := l.accepted(ctx, request, found, &found.Result); err != nil {
		return err
	}
	return l.payOut(ctx, found.Grants(), pay, found.ended, found.later)
}

// payOut grants what was claimed under a lease, and completes it. ended is told what became of
// each, later why the rest is not completed yet.
func (l *Ledger) payOut(
	ctx context.Context, grants []*Grant, pay GrantFunc, ended func(*Grant, *CompleteResult),
	later func(*Result),
) error {
	if pay == nil {
		return nil
	}
	for _, grant := range grants {
		err := pay(ctx, grant)
		if errors.Is(err, ErrNotGranted) {
			continue
		} else if err != nil {
			return err
		}
		completed, err := l.Complete(ctx, grant, "")
		if errors.Is(err, assay.ErrUnavailable) {
			// STO-20: it was paid out, so the next call, or ResumeExpired, completes it.
			later(&completed.Result)
			return nil
		} else if err != nil {
			return err
		}
		ended(grant, completed)
	}
	return nil
}

func (l *Ledger) challenged(
	ctx context.Context, request *request, found *IssueChallengeResult,
) error {
	found.Text, _ = request.members["challenge"].(string)
	return l.accepted(ctx, request, found, &found.Result)
}

// forgotten also empties what a log of the engine still has of the account.
func (l *Ledger) forgotten(
	ctx context.Context, request *request, found *ForgetAccountResult,
) error {
	err := l.accepted(ctx, request, found, &found.Result)
	if store, is := l.executor.(*SQL); is && err == nil {
		store.emptyLog(ctx)
	}
	return err
}

func (l *Ledger) now() time.Time {
	if l.Clock != nil {
		return l.Clock()
	}
	return time.Now()
}

// answer reads what an exchange came to. A refusal of the ledger is an answer; any other is
// an error.
func (l *Ledger) answer(
	ctx context.Context, request *request, called effects, found any, said *Result,
) error {
	err := l.read(ctx, request, called, found, said)
	if err != nil || said.Status.OK() {
		return err
	}
	var ended struct {
		Outcome string `json:"outcome"`
	}
	name := said.Status.String()
	if exchangeOf(said.Document, &ended) == nil && ended.Outcome != "" &&
		(strings.HasPrefix(name, "rejected.") || strings.HasPrefix(name, "unavailable.claim.")) {
		return nil
	}
	return said.Document.Err()
}

// accepted reads what an exchange came to; a refusal is an error.
func (l *Ledger) accepted(
	ctx context.Context, request *request, found any, said *Result,
) error {
	if err := l.read(ctx, request, effects{}, found, said); err != nil {
		return err
	}
	return said.Document.Err()
}

func (l *Ledger) read(
	ctx context.Context, request *request, called effects, found any, said *Result,
) error {
	exchange, err := l.runExchange(ctx, request, called)
	if err != nil {
		return err
	}
	said.of(exchange.Document())
	return exchangeOf(said.Document, found)
}

// exchangeOf reads the member `exchange` of a document.
func exchangeOf(document *assay.Document, to any) error {
	envelope := struct {
		Exchange any `json:"exchange"`
	}{to}
	if err := json.Unmarshal(document.Raw(), &envelope); err != nil {
		return fmt.Errorf("ledger: the answer cannot be read: %w", err)
	}
	return nil
}
