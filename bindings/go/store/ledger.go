package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
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
// What the ledger says about a purchase is an answer: Claim, Resume and Complete return it
// without an error, whatever it is. Everything else that is refused is an *assay.Error, beside
// what is known. The error is assay.ErrUnavailable when the store is away: answer 503.
type Ledger struct {
	// Clock is the time; nil: time.Now. Set it before the first call.
	Clock func() time.Time

	executor Executor
	verifier *assay.Verifier

	mutex sync.Mutex
	// Which store it was, at the first look (STO-78).
	lineage string
}

// New is a ledger over an executor. The configuration of verifier has the block `stores` for
// its engine.
func New(executor Executor, verifier *assay.Verifier) *Ledger {
	return &Ledger{executor: executor, verifier: verifier}
}

// engines are the names under which drivers register themselves.
var engines = map[string]string{
	"sqlite3": "sqlite", "sqlite": "sqlite", "postgres": "postgres", "pgx": "postgres",
	"mysql": "mysql",
}

// Open is a ledger over a driver of database/sql that you import, by its name and its own
// form of address: "sqlite3", "/srv/shop.db". The engine in `stores` of the configuration is
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
	ledger, err := Over(store, config)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return ledger, nil
}

// Over is the same over an executor of yours.
func Over(executor Executor, config any) (*Ledger, error) {
	text, err := configured(config, executor.Dialect())
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

// A Mode is how claim and grant stand together.
type Mode string

// In Transaction the grant writes with grant.Tx: its work and the claim stand together or
// not at all. In Lease it runs after the claim, over any store, and may run again for the same
// grant id after a crash: then it must do nothing.
const (
	Transaction Mode = "transaction"
	Lease       Mode = "lease"
	// Of take-backs: each is told once, and what becomes of it is yours.
	None Mode = "none"
)

// A ClaimRequest says what to claim, and for whom.
type ClaimRequest struct {
	// The JWS of a transaction, or facts and documents of the ledger's verifier.
	JWS      string
	Evidence []assay.Evidence
	// Empty for an event of Apple's, which speaks for whoever has the purchase.
	Account string
	// Pays out. Without one pay out Grants yourself, and Complete each.
	Grant GrantFunc
	// Empty: Transaction where there is a grant, else Lease.
	Mode Mode
	// 22 to 64 characters: the same when a request is repeated; empty: a new one.
	Attempt string
	// What else a claim takes: "accountToken", "allowRepeat", "leaseMs", "only", "limit",
	// "note", "onUnclear", "resolve" (docs/exchanges.md).
	Options map[string]any
}

// Claim claims the purchases of evidence for an account, and pays them out.
func (l *Ledger) Claim(ctx context.Context, claim ClaimRequest) (*Claimed, error) {
	evidence, err := l.evidence(ctx, claim.JWS, claim.Evidence)
	if err != nil {
		return nil, err
	}
	mode := claim.Mode
	if mode == "" {
		if mode = Lease; claim.Grant != nil {
			mode = Transaction
		}
	}
	request, err := with(map[string]any{"kind": "claim", "account": claim.Account, "mode": mode},
		claim.Attempt, claim.Options)
	if err != nil {
		return nil, err
	}
	found := new(Claimed)
	grant, called := claim.Grant, false
	if grant != nil {
		grant = func(ctx context.Context, given *Grant) error {
			called = true
			return claim.Grant(ctx, given)
		}
	}
	err = l.answer(ctx, request, evidence, effects{grant: grant}, found, &found.Result)
	if called && found.Answer == "deferred" && errors.Is(err, assay.ErrUnavailable) {
		// What the grant did may stand (STO-39): that is an answer.
		return found, nil
	}
	if err != nil ||
		mode != Lease || claim.Grant == nil {
		return found, err
	}
	return found, l.payOut(ctx, found, claim.Grant)
}

// payOut grants what was claimed with mode Lease, and completes it.
func (l *Ledger) payOut(ctx context.Context, claimed *Claimed, pay GrantFunc) error {
	for _, grant := range claimed.Grants() {
		err := pay(ctx, grant)
		if errors.Is(err, ErrNotGranted) {
			continue
		} else if err != nil {
			return err
		}
		completed, err := l.Complete(ctx, grant, "")
		if errors.Is(err, assay.ErrUnavailable) {
			// STO-20: it was paid out, so the next call, or Due, completes it.
			claimed.later(&completed.Result)
			return nil
		} else if err != nil {
			return err
		}
		claimed.ended(grant, completed)
	}
	return nil
}

// Complete says that you paid out a grant (mode Lease). Twice is once. note may be empty.
func (l *Ledger) Complete(ctx context.Context, grant *Grant, note string) (*Completed, error) {
	request := map[string]any{"kind": "complete", "purchaseKey": grant.PurchaseKey,
		"account": grant.Account, "grantId": grant.ID, "fence": grant.Fence}
	text(request, "note", note)
	found := new(Completed)
	return found, l.answer(ctx, request, nil, effects{}, found, &found.Result)
}

// A ResumeRequest is a claim whose lease is over, by its purchase key: for support.
type ResumeRequest struct {
	PurchaseKey string
	Account     string
	// Pays out, as with mode Lease; may be nil.
	Grant   GrantFunc
	Attempt string
	// "leaseMs", "onUnclear", "resolve", "note".
	Options map[string]any
}

// Resume takes up such a claim.
func (l *Ledger) Resume(ctx context.Context, resume ResumeRequest) (*Claimed, error) {
	request, err := with(map[string]any{"kind": "claim.resume", "account": resume.Account,
		"purchaseKey": resume.PurchaseKey}, resume.Attempt, resume.Options)
	if err != nil {
		return nil, err
	}
	found := new(Claimed)
	if err := l.answer(ctx, request, nil, effects{}, found, &found.Result); err != nil ||
		resume.Grant == nil {
		return found, err
	}
	return found, l.payOut(ctx, found, resume.Grant)
}

// Due takes up at most 25 claims whose lease was over for so long: run it every minute, pay
// out Grants and Complete each.
func (l *Ledger) Due(ctx context.Context, older time.Duration) (*DueClaims, error) {
	request, err := with(map[string]any{"kind": "claim.due", "olderMs": older.Milliseconds()},
		"", nil)
	if err != nil {
		return nil, err
	}
	found := new(DueClaims)
	return found, l.accepted(ctx, request, nil, found, &found.Result)
}

// A LookupRequest is evidence, an account, or an environment with a transaction id.
type LookupRequest struct {
	Evidence      []assay.Evidence
	Account       string
	Environment   assay.Environment
	TransactionID string
	// Shows what only an operator may see.
	Operator bool
}

// Lookup says whether a purchase was used, and by whom.
func (l *Ledger) Lookup(ctx context.Context, lookup LookupRequest) (*Lookup, error) {
	request := map[string]any{"kind": "lookup"}
	text(request, "account", lookup.Account)
	text(request, "environment", string(lookup.Environment))
	text(request, "transactionId", lookup.TransactionID)
	if lookup.Operator {
		request["operator"] = true
	}
	found := new(Lookup)
	return found, l.accepted(ctx, request, lookup.Evidence, found, &found.Result)
}

// An ApplyRequest is evidence of subscriptions and other lasting purchases.
type ApplyRequest struct {
	// The JWS of a transaction, or facts and documents of the ledger's verifier.
	JWS      string
	Evidence []assay.Evidence
	// Empty for a notification.
	Account string
	// The appAccountToken that the evidence must have, if it has one; may be empty.
	AccountToken string
	// The customer wants to move it here from another account.
	Confirm bool
}

// Apply stores what evidence says; the newer one wins.
func (l *Ledger) Apply(ctx context.Context, apply ApplyRequest) (*Applied, error) {
	evidence, err := l.evidence(ctx, apply.JWS, apply.Evidence)
	if err != nil {
		return nil, err
	}
	request := map[string]any{"kind": "subscription.apply"}
	text(request, "account", apply.Account)
	text(request, "accountToken", apply.AccountToken)
	if apply.Confirm {
		request["confirm"] = true
	}
	found := new(Applied)
	return found, l.accepted(ctx, request, evidence, found, &found.Result)
}

// Read is the plan of an account now. Ask at each call that costs: never the app.
func (l *Ledger) Read(ctx context.Context, account string) (*Plan, error) {
	found := new(Plan)
	return found, l.accepted(ctx, map[string]any{"kind": "subscription.read", "account": account},
		nil, found, &found.Result)
}

// Clear says that the app owns nothing. The next evidence brings it back.
func (l *Ledger) Clear(ctx context.Context, account string) (*Plan, error) {
	found := new(Plan)
	return found, l.accepted(ctx, map[string]any{"kind": "subscription.clear", "account": account},
		nil, found, &found.Result)
}

// DueLines are at most 25 lines about which it is time to ask Apple: Apply what comes.
func (l *Ledger) DueLines(ctx context.Context) (*DueLines, error) {
	request, err := with(map[string]any{"kind": "subscription.due"}, "", nil)
	if err != nil {
		return nil, err
	}
	found := new(DueLines)
	return found, l.accepted(ctx, request, nil, found, &found.Result)
}

// Take takes units from the day's quota of an account. plan is as Read says, never as the app
// says. When it is used up the error is rejected.quota.exhausted, 429, and the quota has the
// headers and the fallback.
func (l *Ledger) Take(
	ctx context.Context, account, meter, plan string, units int64,
) (*Quota, error) {
	found := new(Quota)
	return found, l.accepted(ctx, map[string]any{"kind": "quota.take", "account": account,
		"meter": meter, "plan": plan, "units": units}, nil, found, &found.Result)
}

// Refund gives back what was taken, once, when the work failed before anything was delivered.
func (l *Ledger) Refund(ctx context.Context, ticket string) (*Quota, error) {
	found := new(Quota)
	return found, l.accepted(ctx, map[string]any{"kind": "quota.refund", "ticket": ticket},
		nil, found, &found.Result)
}

// Admit lets an address make an account; Settle says what became of it. address is the
// gateway's own field, never a header of the client's.
func (l *Ledger) Admit(ctx context.Context, address, username, password string) (
	*Admission, error,
) {
	found := new(Admission)
	return found, l.accepted(ctx, map[string]any{"kind": "signup.admit", "address": address,
		"username": username, "passwordBytes": len(password)}, nil, found, &found.Result)
}

// Settle says what became of an account: "created", "exists", "provider-busy" or
// "provider-error".
func (l *Ledger) Settle(ctx context.Context, ticket, result string) (*Admission, error) {
	found := new(Admission)
	return found, l.accepted(ctx, map[string]any{"kind": "signup.settle", "ticket": ticket,
		"result": result}, nil, found, &found.Result)
}

// Challenge is a new one, for one purpose ("attest", "assert" …) of one account or login.
func (l *Ledger) Challenge(ctx context.Context, purpose, subject string) (*Challenge, error) {
	text, err := random(32)
	if err != nil {
		return nil, err
	}
	found := &Challenge{Text: text}
	return found, l.accepted(ctx, map[string]any{"kind": "challenge.issue", "challenge": text,
		"purpose": purpose, "subject": subject}, nil, found, &found.Result)
}

// A ConsumeRequest is a challenge that was used.
type ConsumeRequest struct {
	Purpose string
	Subject string
	// The verified attestation or assertion that has it; or its text, and who uses it.
	Evidence  assay.Evidence
	Challenge string
	By        string
}

// Consume uses a challenge up. The error is assay.ErrRejected, 401, when it was used, is over,
// or is for something else.
func (l *Ledger) Consume(ctx context.Context, consume ConsumeRequest) error {
	request := map[string]any{"kind": "challenge.consume", "purpose": consume.Purpose,
		"subject": consume.Subject}
	text(request, "challenge", consume.Challenge)
	text(request, "by", consume.By)
	var evidence []assay.Evidence
	if consume.Evidence != nil {
		evidence = []assay.Evidence{consume.Evidence}
	}
	return l.accepted(ctx, request, evidence, &struct{}{}, new(Result))
}

// Bind says that the key of a verified attestation is of an account.
func (l *Ledger) Bind(ctx context.Context, evidence assay.Evidence, account string) (
	*Bound, error,
) {
	found := new(Bound)
	return found, l.accepted(ctx, map[string]any{"kind": "key.bind", "account": account},
		[]assay.Evidence{evidence}, found, &found.Result)
}

// Advance stores the counter of a verified assertion, which it returns; no assertion counts
// twice.
func (l *Ledger) Advance(ctx context.Context, evidence assay.Evidence, account string) (
	int64, error,
) {
	var found struct {
		Counter int64 `json:"counter"`
	}
	err := l.accepted(ctx, map[string]any{"kind": "key.advance", "account": account},
		[]assay.Evidence{evidence}, &found, new(Result))
	return found.Counter, err
}

// Once says whether something is to be done: true for the first that asks. id is "MAIL#" with
// a grant id, "NOTE#" with a notification's UUID …; attempt is the same when a request is
// repeated, and then it is true again; empty: a new one.
func (l *Ledger) Once(ctx context.Context, id, attempt string) (bool, error) {
	request, err := with(map[string]any{"kind": "once", "id": id}, attempt, nil)
	if err != nil {
		return false, err
	}
	var said Result
	err = l.accepted(ctx, request, nil, &struct{}{}, &said)
	var refused *assay.Error
	if errors.As(err, &refused) && refused.Name == "rejected.once.seen" {
		return false, nil
	}
	return err == nil, err
}

// Link joins an account into another; the caller has proven both. Call again while More is
// true. reason may be empty.
func (l *Ledger) Link(ctx context.Context, from, to, reason string) (*Joined, error) {
	request, err := with(map[string]any{"kind": "account.link", "from": from, "to": to}, "", nil)
	if err != nil {
		return nil, err
	}
	text(request, "reason", reason)
	found := new(Joined)
	return found, l.accepted(ctx, request, nil, found, &found.Result)
}

// Forget puts a hash in the place of an account's id everywhere. Needs `stores.forgetKey`.
func (l *Ledger) Forget(ctx context.Context, account, reason string) (*Forgotten, error) {
	request, err := with(map[string]any{"kind": "account.forget", "account": account}, "", nil)
	if err != nil {
		return nil, err
	}
	text(request, "reason", reason)
	found := new(Forgotten)
	err = l.accepted(ctx, request, nil, found, &found.Result)
	if store, is := l.executor.(*SQL); is && err == nil {
		store.emptyLog(ctx)
	}
	return found, err
}

// A TextRequest names kept texts: by SHA-256, by purchase key, or of a line.
type TextRequest struct {
	SHA256                []string
	PurchaseKey           string
	Environment           assay.Environment
	OriginalTransactionID string
}

// Evidence is texts that were kept, to be verified again. Needs `stores.keepEvidence`.
func (l *Ledger) Evidence(ctx context.Context, texts TextRequest) (*KeptTexts, error) {
	request := map[string]any{"kind": "evidence.read"}
	if texts.SHA256 != nil {
		request["sha256"] = texts.SHA256
	}
	text(request, "purchaseKey", texts.PurchaseKey)
	text(request, "environment", string(texts.Environment))
	text(request, "originalTransactionId", texts.OriginalTransactionID)
	found := new(KeptTexts)
	return found, l.accepted(ctx, request, nil, found, &found.Result)
}

// ---- inside

func (l *Ledger) now() time.Time {
	if l.Clock != nil {
		return l.Clock()
	}
	return time.Now()
}

// answer reads what a conversation came to. A refusal of the ledger is an answer; any other is
// an error.
func (l *Ledger) answer(
	ctx context.Context, request map[string]any, evidence []assay.Evidence, called effects,
	found any, said *Result,
) error {
	err := l.read(ctx, request, evidence, called, found, said)
	if err != nil || said.Status.OK() {
		return err
	}
	var ended struct {
		Outcome string `json:"outcome"`
	}
	name := said.Status.String()
	if exchangeOf(said.Document, &ended) == nil && ended.Outcome != "" &&
		(strings.HasPrefix(name, "rejected.") || strings.HasPrefix(name, "unavailable.ledger.")) {
		return nil
	}
	return said.Document.Err()
}

// accepted reads what a conversation came to; a refusal is an error.
func (l *Ledger) accepted(
	ctx context.Context, request map[string]any, evidence []assay.Evidence, found any,
	said *Result,
) error {
	if err := l.read(ctx, request, evidence, effects{}, found, said); err != nil {
		return err
	}
	return said.Document.Err()
}

func (l *Ledger) read(
	ctx context.Context, request map[string]any, evidence []assay.Evidence, called effects,
	found any, said *Result,
) error {
	exchange, err := l.converse(ctx, request, evidence, called)
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
		return fmt.Errorf("store: the answer cannot be read: %w", err)
	}
	return nil
}

// evidence is what was given, or made of a text.
func (l *Ledger) evidence(ctx context.Context, jws string, given []assay.Evidence) (
	[]assay.Evidence, error,
) {
	if jws == "" {
		return given, nil
	}
	transaction, err := l.verifier.VerifyTransaction(ctx, jws, assay.At(l.now()))
	if err != nil {
		return nil, err
	}
	return append([]assay.Evidence{transaction}, given...), nil
}

// with adds an attempt id and options to a request; an empty account is none.
func with(request map[string]any, attempt string, options map[string]any) (
	map[string]any, error,
) {
	if attempt == "" {
		var err error
		if attempt, err = random(16); err != nil {
			return nil, err
		}
	}
	request["attempt"] = attempt
	for name, value := range options {
		request[name] = value
	}
	if request["account"] == "" {
		delete(request, "account")
	}
	return request, nil
}

// text adds a member that is not empty.
func text(request map[string]any, name, value string) {
	if value != "" {
		request[name] = value
	}
}

// random is so many random octets as base64url.
func random(count int) (string, error) {
	octets := make([]byte, count)
	if _, err := rand.Read(octets); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(octets), nil
}
