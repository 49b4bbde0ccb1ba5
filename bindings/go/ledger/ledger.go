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

// A Ledger has purchases that are granted once, subscriptions, quotas, sign-ups and device
// keys. Goroutines share one.
//
// A refusal of a purchase is a result: Claim, Resume, Complete and CompleteRevocation return
// it without an error, and so does RecordEvent. Every other refusal is an *assay.Error, beside
// the result as far as it is known. The error is assay.ErrUnavailable if the database is
// unavailable: answer 503.
type Ledger struct {
	// Clock returns the time; nil means time.Now. Set it before the first call.
	Clock func() time.Time
	// Sender sends the requests of Reconcile to Apple; nil means one without options. Set it
	// before the first call.
	Sender *assay.Sender

	executor Executor
	verifier *assay.Verifier

	mutex sync.Mutex
	// lineage identifies the database, as found by the first check (STO-78).
	lineage string
}

// New returns a ledger with an executor. The configuration of verifier has the block `ledger`
// for its engine.
func New(executor Executor, verifier *assay.Verifier) *Ledger {
	return &Ledger{executor: executor, verifier: verifier}
}

// engines maps the names of drivers of database/sql to engines.
var engines = map[string]string{
	"sqlite3": "sqlite", "sqlite": "sqlite", "postgres": "postgres", "pgx": "postgres",
	"mysql": "mariadb",
}

// Open returns a ledger over a driver of database/sql that you import, by its name and its own
// form of address: "sqlite3", "/srv/shop.db". The member `ledger.engine` of the configuration
// is filled in. Only CreateSchema creates tables and SQLite's file, and an operator calls it
// once: a database that is missing later is an error, not an empty one that would grant each
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

// WithExecutor returns a ledger with your own executor.
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

// Verifier returns the verifier of the ledger.
func (l *Ledger) Verifier() *assay.Verifier { return l.verifier }

// Close closes the verifier, and the database if Open opened it.
func (l *Ledger) Close() error {
	l.verifier.Close()
	if store, ok := l.executor.(*SQL); ok {
		return store.DB.Close()
	}
	return nil
}

// A GrantMode selects whether the grant is committed together with the claim.
type GrantMode string

// In mode Transaction the grant writes with grant.Tx, and its work is committed together with
// the claim, or neither is. In mode Lease it runs after the claim, with any database, and may
// run again for the same grant id after a crash: then it must do nothing.
const (
	Transaction GrantMode = "transaction"
	Lease       GrantMode = "lease"
	// None is for take-backs: each is returned once, and the host keeps track of it.
	None GrantMode = "none"
)

// mode returns the mode of a claim; by default it follows from the grant.
func (c ClaimRequest) mode() GrantMode {
	switch {
	case c.GrantMode != "":
		return c.GrantMode
	case c.Grant != nil:
		return Transaction
	}
	return Lease
}

// ---- internal: what the methods of ledger_calls.go end with

// claimed runs the claim, and the grant in the transaction of the claim or after it.
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
		// What the grant did may have been committed (STO-39): that is a result, not an error.
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

// payOut grants what was claimed under a lease, and completes it. It calls ended with the
// outcome of each grant, and later if the rest cannot be completed now.
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
			// The purchase was granted, so the next call or ResumeExpired completes it
			// (STO-20).
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

// forgotten also empties the log of the engine, which may still contain the account.
func (l *Ledger) forgotten(
	ctx context.Context, request *request, found *ForgetAccountResult,
) error {
	err := l.accepted(ctx, request, found, &found.Result)
	l.emptyLog(ctx, err)
	return err
}

// customerForgotten does the same for the accounts of a customer.
func (l *Ledger) customerForgotten(
	ctx context.Context, request *request, found *ForgetCustomerResult,
) error {
	err := l.accepted(ctx, request, found, &found.Result)
	l.emptyLog(ctx, err)
	return err
}

func (l *Ledger) emptyLog(ctx context.Context, err error) {
	if store, is := l.executor.(*SQL); is && err == nil {
		store.emptyLog(ctx)
	}
}

func (l *Ledger) now() time.Time {
	if l.Clock != nil {
		return l.Clock()
	}
	return time.Now()
}

// answer reads the result of an exchange. A refusal of a purchase or a claim is a result; any
// other is an error.
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

// accepted reads the result of an exchange; a refusal is an error.
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

// exchangeOf decodes the member `exchange` of a document.
func exchangeOf(document *assay.Document, to any) error {
	envelope := struct {
		Exchange any `json:"exchange"`
	}{to}
	if err := json.Unmarshal(document.Raw(), &envelope); err != nil {
		return fmt.Errorf("ledger: the answer cannot be read: %w", err)
	}
	return nil
}
