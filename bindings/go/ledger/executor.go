package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// An Executor runs the database steps of exchanges on one database: SQL, DynamoDB, or one of
// your own. Goroutines share it.
type Executor interface {
	// EngineName returns the name of the engine in `ledger.engine`: "sqlite", "postgres" …
	EngineName() string
	// Session returns a session for one exchange.
	Session() Session
}

// A Session runs the steps of one exchange, in order. Only one goroutine uses it.
type Session interface {
	// Run runs a step up to its first failure, after which an open transaction has been rolled
	// back. The error is the context's; an error of the engine is in the reply.
	Run(ctx context.Context, step *Step) (*Reply, error)
	// EnterGrant returns what a grant writes with, inside the open transaction. It refuses
	// every statement that would end the transaction (STO-38).
	EnterGrant(ctx context.Context) Target
	// LeaveGrant returns nil if the open transaction is still the one that was begun, or if
	// the engine rolled it back and thrown, which the grant returned, is that error. Otherwise
	// it returns the reply to the grant step, without its id: code 0 if the session was lost,
	// 500 with error code "transaction" if the grant ended the transaction. No transaction is
	// open then.
	LeaveGrant(thrown error) *Reply
	// Rollback rolls back the open transaction, if there is one.
	Rollback()
	// Close rolls back the open transaction and returns the connection.
	Close()
}

// A Committer is a Session whose engine writes a claim and its grant in one request: DynamoDB.
type Committer interface {
	// Commit writes item and the items that the grant appended in one TransactWriteItems, item
	// first. A failed condition is a result; after a failure the items may or may not have
	// been written. The error is the context's.
	Commit(ctx context.Context, item json.RawMessage) (CallResult, *Failure, error)
}

// A Step is the member `database` of an exchange's document (docs/exchanges.md).
type Step struct {
	ID     int64  `json:"id"`
	Engine string `json:"engine"`
	// Transaction is "begin", "within", "commit", or empty; "single" is begin, calls and
	// commit.
	Transaction string `json:"transaction"`
	Calls       []Call `json:"calls"`
	// Limits may be nil: 5 s for a statement and 2 s for a lock.
	Limits *Limits `json:"limits"`
}

// A Call is one statement or request to the engine.
type Call struct {
	// SQL has one argument in Args for each placeholder.
	SQL         string  `json:"sql"`
	Args        []Value `json:"args"`
	ReturnsRows bool    `json:"returnsRows"`
	// API and Input are the call of DynamoDB.
	API   string          `json:"api"`
	Input json.RawMessage `json:"input"`
}

// A Value is a string, an integer or null.
type Value struct{ any }

// UnmarshalJSON reads a string, an integer or null; any other type is an error.
func (v *Value) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		var found string
		err := json.Unmarshal(text, &found)
		v.any = found
		return err
	}
	var found *int64
	if err := json.Unmarshal(text, &found); err != nil {
		return fmt.Errorf("ledger: an argument is neither text, integer nor null")
	}
	if v.any = nil; found != nil {
		v.any = *found
	}
	return nil
}

// String returns a fixed text instead of the value (EXC-22).
func (v Value) String() string { return "not shown" }

// GoString returns the same text as String.
func (v Value) GoString() string { return v.String() }

// A Reply is the outcome of a step.
type Reply struct {
	ID int64 `json:"id"`
	// Code is 200; 500 if the engine refused; 0 if no reply arrived.
	Code    int          `json:"code"`
	Results []CallResult `json:"results,omitempty"`
	Error   *Failure     `json:"error,omitempty"`
}

// MarshalJSON writes `results` with code 200 even if the list is empty.
func (a *Reply) MarshalJSON() ([]byte, error) {
	type plain Reply
	if a.Code == 200 && len(a.Results) == 0 {
		return []byte(fmt.Sprintf(`{"id":%d,"code":200,"results":[]}`, a.ID)), nil
	}
	return json.Marshal((*plain)(a))
}

// A CallResult is the outcome of one call; all members are nil for a statement without rows.
type CallResult struct {
	Rows   *[][]any        `json:"rows,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
	// Error is a failed condition, which is a result.
	Error *Condition `json:"error,omitempty"`
}

// A Failure is an error of the engine, without its text, which may quote values.
type Failure struct {
	Code string `json:"code"`
	// Executed is "no" if nothing was executed; else "unknown".
	Executed string `json:"executed"`
}

// standby is the code of a connection that does not lead to a primary (STO-74).
const standby = "standby"

// failed returns the reply of an engine that refused.
func failed(step *Step, code string, certain bool) *Reply {
	executed := "unknown"
	if certain {
		executed = "no"
	}
	return &Reply{ID: step.ID, Code: 500, Error: &Failure{Code: code, Executed: executed}}
}

// A Grant is a purchase to be granted now. Store what you give under ID, once: with mode Lease
// the same grant may come again.
type Grant struct {
	PurchaseKey string `json:"purchaseKey"`
	// ID is 64 hex digits: equal for each attempt, different after a reversed refund.
	ID string `json:"grantId"`
	// FencingToken grows with each take-over: refuse one smaller than one seen before
	// (STO-26).
	FencingToken int64  `json:"fencingToken"`
	Account      string `json:"account"`
	Product      string `json:"product"`
	Quantity     int64  `json:"quantity"`
	// Units is the amount to give: Quantity × `products.<id>.units`; after a reversed refund,
	// the amount that was taken back.
	Units int64 `json:"units"`
	// Whether this ID was handed out before, and may already have been granted.
	Repeat bool `json:"repeat"`

	Target
}

// A Target is what a grant or a take-back writes with in mode Transaction.
type Target struct {
	// Tx is the open transaction of an SQL engine.
	Tx Tx `json:"-"`
	// Items are the further items of DynamoDB's TransactWriteItems: append yours.
	Items *[]json.RawMessage `json:"-"`
}

// A Take is an amount of a refunded purchase to be taken back now, once (STO-35). Store ID
// together with what you take, under a unique index, and take nothing if the index has it
// already.
type Take struct {
	PurchaseKey string `json:"purchaseKey"`
	// ID is equal whenever this take-back is handed out again; different if Apple takes back
	// more.
	ID string `json:"takeId"`
	// FencingToken grows whenever this take-back is handed out again.
	FencingToken int64  `json:"fencingToken"`
	Account      string `json:"account"`
	Product      string `json:"product"`
	// Quantity is how many were bought.
	Quantity int64 `json:"quantity"`
	// Units is the amount to take, of what the purchase gave.
	Units int64 `json:"units"`
	// Percentage is the refunded part of the price in thousandths of a percent; nil for all of
	// it.
	Percentage *int64 `json:"percentage"`
	// LeaseExpiresAt is zero if CompleteRevocation is not expected.
	LeaseExpiresAt Time `json:"leaseExpiresAtMs"`
	// Taken is the amount that you could take: set it if that was less than Units.
	Taken *int64 `json:"-"`

	Target
}

// Tx is the open transaction of a claim, which the ledger commits. A statement that would end
// it or begin another one is refused with misuse.ledger.transaction (STO-38).
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// ErrNotGranted is returned by a function that grants or takes back: nothing is then claimed
// or taken, and a later call tries again.
var ErrNotGranted = errors.New("ledger: not granted")
