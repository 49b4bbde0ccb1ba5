package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	assay "assay.example/bindings/go"
)

// CreateSchema makes the tables that are missing, and SQLite's file. A table of DynamoDB takes a
// while.
func (l *Ledger) CreateSchema(ctx context.Context) error {
	if store, is := l.executor.(*SQL); is {
		if err := store.makeFile(ctx); err != nil {
			return err
		}
	}
	return l.runSchema(ctx, func(found *schema) []Call {
		return append(found.Statements, found.Indexes...)
	})
}

// Tidy deletes what is over, and kept texts that no row names: run it once a day.
func (l *Ledger) Tidy(ctx context.Context) error {
	return l.runSchema(ctx, func(found *schema) []Call { return found.Garbage })
}

// CheckSchema says whether a table or column is missing, or this is a standby.
func (l *Ledger) CheckSchema(ctx context.Context) error {
	return l.accepted(ctx, map[string]any{"kind": "schema.check"}, nil, &struct{}{}, new(Result))
}

type schema struct {
	Statements []Call `json:"statements"`
	Indexes    []Call `json:"indexes"`
	Garbage    []Call `json:"garbage"`
}

func (l *Ledger) runSchema(ctx context.Context, chosen func(*schema) []Call) error {
	var found schema
	request := map[string]any{"kind": "schema"}
	if err := l.accepted(ctx, request, nil, &found, new(Result)); err != nil {
		return err
	}
	session := l.executor.Session()
	defer session.Close()
	for _, call := range chosen(&found) {
		if err := l.runCall(ctx, session, call); err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) runCall(ctx context.Context, session Session, call Call) error {
	for tries := 0; ; tries++ {
		answer, err := session.CarryOut(ctx, &Step{Run: []Call{call},
			Limits: &Limits{StatementMs: 60000}})
		switch {
		case err != nil:
			return err
		case answer.Code == 200, answer.isThere(call):
			return nil
		case call.API == "" || tries == 60:
			code := "no answer"
			if answer.Error != nil {
				code = answer.Error.Code
			}
			return fmt.Errorf("store: the engine refused a part of the schema: %s", code)
		}
		// A table that is being made.
		if err := l.wait(ctx, l.now().Add(time.Second)); err != nil {
			return err
		}
	}
}

// isThere says that DynamoDB has it already.
func (a *Answer) isThere(call Call) bool {
	there := map[string]string{
		"CreateTable": "ResourceInUseException", "UpdateTimeToLive": "ValidationException"}
	return a.Error != nil && a.Error.Code == there[call.API]
}

// configured is a configuration with the engine in its block `stores`.
func configured(config any, engine string) (json.RawMessage, error) {
	var text []byte
	switch given := config.(type) {
	case string:
		text = []byte(given)
	case []byte:
		text = given
	case json.RawMessage:
		text = given
	default:
		var err error
		if text, err = json.Marshal(config); err != nil {
			return nil, fmt.Errorf("%w: config: %v", assay.ErrArgument, err)
		}
	}
	found, block := map[string]json.RawMessage{}, map[string]any{}
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, fmt.Errorf("%w: config: %v", assay.ErrArgument, err)
	}
	if given, there := found["stores"]; there {
		if err := json.Unmarshal(given, &block); err != nil {
			return nil, fmt.Errorf("%w: config: stores: %v", assay.ErrArgument, err)
		}
	}
	block["dialect"] = engine
	if place, needed := map[string]string{
		"sqlite": "qmark", "mysql": "qmark", "postgres": "dollar"}[engine]; needed {
		block["placeholders"] = place
	}
	var err error
	if found["stores"], err = json.Marshal(block); err != nil {
		return nil, err
	}
	return json.Marshal(found)
}
