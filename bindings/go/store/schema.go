package store

import (
	"context"
	"encoding/json"
	"fmt"

	assay "assay.example/bindings/go"
)

// CreateSchema makes SQLite's file and all tables where there is none, or changes those of an
// older version (STO-78): for an operator, once. Where a part is missing the error is
// config.store.schema, and nothing is made. A table of DynamoDB takes a while.
func (l *Ledger) CreateSchema(ctx context.Context) error {
	if store, is := l.executor.(*SQL); is {
		if err := store.makeFile(ctx); err != nil {
			return err
		}
	}
	lineage, err := random(24)
	if err != nil {
		return err
	}
	return l.schema(ctx, map[string]any{"kind": "schema.create", "lineage": lineage})
}

// CheckSchema looks at the store, at start-up and not at the first purchase: whether a table or
// column is missing, this is a standby, or it is another store than this ledger saw first.
func (l *Ledger) CheckSchema(ctx context.Context) error {
	request := map[string]any{"kind": "schema.check"}
	l.mutex.Lock()
	text(request, "lineage", l.lineage)
	l.mutex.Unlock()
	return l.schema(ctx, request)
}

// schema also remembers which store it is.
func (l *Ledger) schema(ctx context.Context, request map[string]any) error {
	var found struct {
		Lineage string `json:"lineage"`
	}
	if err := l.accepted(ctx, request, nil, &found, new(Result)); err != nil {
		return err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.lineage == "" {
		l.lineage = found.Lineage
	}
	return nil
}

// Tidy deletes what is over, and kept texts that no row names: run it once a day.
func (l *Ledger) Tidy(ctx context.Context) error {
	var found struct {
		Garbage []Call `json:"garbage"`
	}
	request := map[string]any{"kind": "schema"}
	if err := l.accepted(ctx, request, nil, &found, new(Result)); err != nil {
		return err
	}
	session := l.executor.Session()
	defer session.Close()
	for _, call := range found.Garbage {
		answer, err := session.CarryOut(ctx, &Step{Run: []Call{call},
			Limits: &Limits{StatementMs: 60000}})
		if err != nil {
			return err
		} else if answer.Code != 200 {
			return assay.Refusal("unavailable.store.engine", "")
		}
	}
	return nil
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
