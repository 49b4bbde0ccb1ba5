package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	assay "assay.example/bindings/go"
)

// A GrantFunc pays a purchase out. ErrNotGranted, or any other error, grants nothing.
type GrantFunc func(ctx context.Context, grant *Grant) error

// patience is longer than any wait of the library's own: a fifth of a second, of pace.take
// a second.
const patience = 5 * time.Second

// A step is what is read of an open exchange.
type openStep struct {
	State string `json:"state"`
	Store *Step  `json:"store"`
	Grant *struct {
		ID int64 `json:"id"`
		Grant
	} `json:"grant"`
	NotBeforeMs int64 `json:"notBeforeMs"`
}

// converse conducts a conversation to its end. Whatever ends it, nothing stays open in the
// store. A refused document is an answer.
func (l *Ledger) converse(
	ctx context.Context, request map[string]any, evidence []assay.Evidence, grant GrantFunc,
) (*assay.Exchange, error) {
	exchange, err := l.verifier.Exchange(ctx, request, evidence, assay.At(l.now()))
	if err != nil {
		return nil, err
	}
	defer exchange.Close()
	session := l.executor.Session()
	defer session.Close()
	for !exchange.Done() {
		answer, err := l.carryOut(ctx, session, exchange, grant)
		if err != nil {
			return nil, err
		}
		if _, err := exchange.Step(ctx, answer, assay.At(l.now())); err != nil {
			return nil, err
		}
	}
	return exchange, nil
}

func (l *Ledger) carryOut(
	ctx context.Context, session Session, exchange *assay.Exchange, grant GrantFunc,
) (any, error) {
	var open openStep
	if err := json.Unmarshal(exchange.Payload(), &open); err != nil {
		return nil, fmt.Errorf("store: the step cannot be read: %w", err)
	}
	switch {
	case open.State == "store" && open.Store != nil:
		return session.CarryOut(ctx, open.Store)
	case open.State == "grant" && open.Grant != nil:
		if grant == nil {
			return nil, fmt.Errorf("%w: mode Transaction needs a grant", assay.ErrArgument)
		}
		found := open.Grant.Grant
		session.Grant(&found)
		code := 200
		if err := grant(ctx, &found); errors.Is(err, ErrNotGranted) {
			session.Rollback()
			code = 500
		} else if err != nil {
			return nil, err
		}
		return map[string]any{"id": open.Grant.ID, "code": code}, nil
	case open.State == "wait":
		return struct{}{}, l.wait(ctx, time.UnixMilli(open.NotBeforeMs))
	}
	return nil, fmt.Errorf("store: a step of state %q is not for a store", open.State)
}

func (l *Ledger) wait(ctx context.Context, until time.Time) error {
	left := until.Sub(l.now())
	if left > patience {
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
