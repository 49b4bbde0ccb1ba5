package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	assay "assay.example/bindings/go"
)

// A GrantFunc grants a purchase. If it returns ErrNotGranted or another error, nothing is
// granted.
type GrantFunc func(ctx context.Context, grant *Grant) error

// A TakeFunc takes units back. If it returns ErrNotGranted or another error, nothing is taken.
type TakeFunc func(ctx context.Context, take *Take) error

// maxWait is longer than any wait that the library asks for: 0.2 s, 1 s for
// acquire-rate-permit.
const maxWait = 5 * time.Second

// An openStep is the part of an open step that the ledger reads.
type openStep struct {
	Step        string     `json:"step"`
	Database    *Step      `json:"database"`
	Grant       *grantStep `json:"grant"`
	NotBeforeMs int64      `json:"notBeforeMs"`
}

type grantStep struct {
	ID int64 `json:"id"`
	// What is "give" or "take".
	What string `json:"what"`
	// Item is what DynamoDB writes together with the grant's own items.
	Item json.RawMessage `json:"item"`
	// whole is the JSON of the step: a Grant or a Take.
	whole json.RawMessage
}

// UnmarshalJSON also keeps the JSON text in whole.
func (g *grantStep) UnmarshalJSON(text []byte) error {
	type plain grantStep
	if err := json.Unmarshal(text, (*plain)(g)); err != nil {
		return err
	}
	g.whole = append(json.RawMessage{}, text...)
	return nil
}

// effects are the host's functions that run in the transaction of the row.
type effects struct {
	grant GrantFunc
	take  TakeFunc
}

// called runs the function that the step is for.
func (e effects) called(ctx context.Context, step *grantStep, target Target) (thrown error) {
	var err error
	if step.What == "take" {
		found := &Take{Target: target}
		if err = json.Unmarshal(step.whole, found); err == nil {
			thrown = e.take(ctx, found)
		}
	} else {
		found := &Grant{Target: target}
		if err = json.Unmarshal(step.whole, found); err == nil {
			thrown = e.grant(ctx, found)
		}
	}
	if err != nil {
		return fmt.Errorf("ledger: the step cannot be read: %w", err)
	}
	return thrown
}

// runExchange runs an exchange to its end. No transaction stays open, however the exchange
// ends. A refused document is a result, not an error.
func (l *Ledger) runExchange(
	ctx context.Context, request *request, called effects,
) (*assay.Exchange, error) {
	if request.err != nil {
		return nil, request.err
	}
	exchange, err := l.verifier.Exchange(
		ctx, request.members, request.evidence, assay.At(l.now()))
	if err != nil {
		return nil, err
	}
	defer exchange.Close()
	session := l.executor.Session()
	defer session.Close()
	// reached is the end of the last wait. A clock that stops or is set back would never reach
	// it.
	var reached time.Time
	for !exchange.Done() {
		answer, until, err := l.runStep(ctx, session, exchange, called)
		if err != nil {
			return nil, err
		}
		if until.After(reached) {
			reached = until
		}
		now := l.now()
		if now.Before(reached) {
			now = reached
		}
		if _, err := exchange.Step(ctx, answer, assay.At(now)); err != nil {
			return nil, err
		}
	}
	return exchange, nil
}

func (l *Ledger) runStep(
	ctx context.Context, session Session, exchange *assay.Exchange, called effects,
) (answer any, until time.Time, err error) {
	var open openStep
	if err := json.Unmarshal(exchange.Payload(), &open); err != nil {
		return nil, until, fmt.Errorf("ledger: the step cannot be read: %w", err)
	}
	switch {
	case open.Step == "database" && open.Database != nil:
		answer, err = session.Run(ctx, open.Database)
	case open.Step == "grant" && open.Grant != nil:
		answer, err = granted(ctx, session, open.Grant, called)
	case open.Step == "http":
		answer, err = l.sender().Send(ctx, exchange)
	case open.Step == "wait":
		until = time.UnixMilli(open.NotBeforeMs)
		answer, err = struct{}{}, l.wait(ctx, until)
	default:
		err = fmt.Errorf("ledger: the step %q is not for a database", open.Step)
	}
	return answer, until, err
}

// granted runs the grant, and returns the reply to its step. If the grant ended the
// transaction (STO-38), or its session was lost (STO-39), the reply reports that, whatever the
// grant returned.
func granted(
	ctx context.Context, session Session, step *grantStep, called effects,
) (any, error) {
	if isTake := step.What == "take"; isTake && called.take == nil {
		return nil, fmt.Errorf("%w: mode Transaction needs a take-back", assay.ErrArgument)
	} else if !isTake && called.grant == nil {
		return nil, fmt.Errorf("%w: mode Transaction needs a grant", assay.ErrArgument)
	}
	thrown := called.called(ctx, step, session.EnterGrant(ctx))
	if answer := session.LeaveGrant(thrown); answer != nil {
		answer.ID = step.ID
		return answer, nil
	}
	answer := map[string]any{"id": step.ID, "code": 200}
	if errors.Is(thrown, ErrNotGranted) {
		session.Rollback()
		answer["code"] = 500
		return answer, nil
	} else if thrown != nil || len(step.Item) == 0 {
		return answer, thrown
	}
	committer, is := session.(Committer)
	if !is {
		return nil, errors.New("ledger: the executor is no Committer")
	}
	result, failure, err := committer.Commit(ctx, step.Item)
	if failure != nil {
		answer["code"] = 500
	} else if result.Error != nil {
		answer["results"] = []CallResult{result}
	}
	return answer, err
}

// sender returns what sends the requests of Reconcile.
func (l *Ledger) sender() *assay.Sender {
	if l.Sender != nil {
		return l.Sender
	}
	return new(assay.Sender)
}

func (l *Ledger) wait(ctx context.Context, until time.Time) error {
	left := until.Sub(l.now())
	if left > maxWait {
		return assay.ErrTooLong
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
