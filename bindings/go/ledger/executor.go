package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// An Executor carries out the steps of exchanges with one store: SQL, DynamoDB, or one
// of your own. Many goroutines share it.
type Executor interface {
	// EngineName is what `ledger.engine` calls the engine: "sqlite", "postgres" …
	EngineName() string
	// Session is for one exchange.
	Session() Session
}

// A Session carries out the steps of one exchange, in order. One goroutine has it.
type Session interface {
	// Run runs a step up to its first failure, after which nothing of an open
	// transaction is left. The error is the context's; what the engine says is in the answer.
	Run(ctx context.Context, step *Step) (*Reply, error)
	// EnterGrant is what a grant writes with, inside the open transaction. It lets nothing
	// through that would end the transaction (STO-38).
	EnterGrant(ctx context.Context) Target
	// LeaveGrant is nil when the transaction is still the one that was begun, or the engine
	// undid it and thrown, which the grant returned, says so. Else it is what the grant's step
	// is answered, its id aside: code 0 where the session was lost; 500 with error code
	// "transaction" where the grant ended the transaction. Then nothing is open any more.
	LeaveGrant(thrown error) *Reply
	// Rollback undoes what is open.
	Rollback()
	// Close undoes what is open, and gives the connection back.
	Close()
}

// A Committer is a Session of an engine where a claim and its grant are one request: DynamoDB.
type Committer interface {
	// Commit writes item and what the grant appended in one TransactWriteItems, item first.
	// Conditions that failed are a result; after a failure nothing is known to be written.
	// The error is the context's.
	Commit(ctx context.Context, item json.RawMessage) (CallResult, *Failure, error)
}

// A Step is the value of `database` of an exchange's document (docs/exchanges.md).
type Step struct {
	ID     int64  `json:"id"`
	Engine string `json:"engine"`
	// "begin", "within", "commit", or empty; "single": begin, the calls, commit.
	Transaction string `json:"transaction"`
	Calls       []Call `json:"calls"`
	// Nil: 5 s and 2 s.
	Limits *Limits `json:"limits"`
}

// A Call is one call of the engine.
type Call struct {
	// SQL, one argument for each placeholder.
	SQL         string  `json:"sql"`
	Args        []Value `json:"args"`
	ReturnsRows bool    `json:"returnsRows"`
	// DynamoDB.
	API   string          `json:"api"`
	Input json.RawMessage `json:"input"`
}

// A Value is text, an integer or null.
type Value struct{ any }

// UnmarshalJSON reads no other type.
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

// String does not say the value (EXC-22).
func (v Value) String() string { return "not shown" }

// GoString is the same.
func (v Value) GoString() string { return v.String() }

// A Reply is what a step brought.
type Reply struct {
	ID int64 `json:"id"`
	// 200; 500 when the engine refused; 0 when nothing came back.
	Code    int          `json:"code"`
	Results []CallResult `json:"results,omitempty"`
	Error   *Failure     `json:"error,omitempty"`
}

// MarshalJSON has `results` with code 200, be it empty.
func (a *Reply) MarshalJSON() ([]byte, error) {
	type plain Reply
	if a.Code == 200 && len(a.Results) == 0 {
		return []byte(fmt.Sprintf(`{"id":%d,"code":200,"results":[]}`, a.ID)), nil
	}
	return json.Marshal((*plain)(a))
}

// A CallResult is what one call brought; all nil for a statement without rows.
type CallResult struct {
	Rows   *[][]any        `json:"rows,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
	// A condition that failed is a result.
	Error *Condition `json:"error,omitempty"`
}

// A Failure is what an engine said. Its text is left out: it may quote values.
type Failure struct {
	Code string `json:"code"`
	// "no": nothing was carried out; "unknown".
	Executed string `json:"executed"`
}

// standby is the code of a connection that leads to no primary (STO-74).
const standby = "standby"

// failed is the answer of an engine that refused.
func failed(step *Step, code string, certain bool) *Reply {
	executed := "unknown"
	if certain {
		executed = "no"
	}
	return &Reply{ID: step.ID, Code: 500, Error: &Failure{Code: code, Executed: executed}}
}

// A Grant is a purchase to be paid out now. Store what you pay out under ID, once: with mode
// Lease the same one may come again.
type Grant struct {
	PurchaseKey string `json:"purchaseKey"`
	// 64 hex digits: the same at each try, another after a reversed refund.
	ID string `json:"grantId"`
	// Grows with each take-over: refuse one that is smaller than one seen (STO-26).
	FencingToken int64  `json:"fencingToken"`
	Account      string `json:"account"`
	Product      string `json:"product"`
	Quantity     int64  `json:"quantity"`
	// What to give: Quantity × `products.<id>.units`; after a reversal what was taken back.
	Units int64 `json:"units"`
	// This ID was handed out before: it may be paid out already.
	Repeat bool `json:"repeat"`

	Target
}

// A Target is where a grant or a take-back writes, with mode Transaction.
type Target struct {
	// The open transaction, over SQL.
	Tx Tx `json:"-"`
	// Further items of TransactWriteItems, over DynamoDB: append yours.
	Items *[]json.RawMessage `json:"-"`
}

// A Take is units of a refunded purchase to be taken back now, once (STO-35). Write ID beside
// what you take, under a unique index, and nothing where it stands already.
type Take struct {
	PurchaseKey string `json:"purchaseKey"`
	// The same whenever this is handed out again; another when Apple takes back more.
	ID string `json:"takeId"`
	// Grows whenever it is handed out again.
	FencingToken int64  `json:"fencingToken"`
	Account      string `json:"account"`
	Product      string `json:"product"`
	// How many were bought.
	Quantity int64 `json:"quantity"`
	// How many units to take, of what the purchase gave.
	Units int64 `json:"units"`
	// What Apple refunded of the price, in thousandths of a percent; nil: all of it.
	Percentage *int64 `json:"percentage"`
	// Zero: nobody waits for CompleteRevocation.
	LeaseExpiresAt Time `json:"leaseExpiresAtMs"`
	// Set it to how many units there were, where it was not all of them.
	Taken *int64 `json:"-"`

	Target
}

// Tx is the open transaction of a claim, which the ledger commits. A statement that would end
// it, or begin another one, is refused with misuse.ledger.transaction (STO-38).
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// ErrNotGranted is for a function that grants or takes back to return: nothing is claimed or
// taken, try later.
var ErrNotGranted = errors.New("ledger: not granted")
