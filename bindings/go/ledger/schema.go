package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	assay "assay.example/bindings/go"
)

// CreateSchema creates SQLite's file and all tables that do not exist, or changes those of an
// older version (STO-78); an operator calls it once. If a part of the schema is missing, the
// error is config.ledger.schema, and nothing is created. DynamoDB takes a while to create a
// table.
func (l *Ledger) CreateSchema(ctx context.Context) error {
	if store, is := l.executor.(*SQL); is {
		if err := store.makeFile(ctx); err != nil {
			return err
		}
	}
	request := asking("create-schema")
	request.make("lineage", "", 24)
	return l.schema(ctx, request, new(CheckSchemaResult))
}

// checked also checks that this is the database that the ledger found first (STO-78).
func (l *Ledger) checked(ctx context.Context, request *request, found *CheckSchemaResult) error {
	if _, given := request.members["lineage"]; !given {
		l.mutex.Lock()
		put(request, "lineage", l.lineage)
		l.mutex.Unlock()
	}
	return l.schema(ctx, request, found)
}

// schema also stores the lineage of the database.
func (l *Ledger) schema(ctx context.Context, request *request, found *CheckSchemaResult) error {
	if err := l.accepted(ctx, request, found, &found.Result); err != nil {
		return err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.lineage == "" {
		l.lineage = found.Lineage
	}
	return nil
}

// DeleteExpiredRows deletes expired rows, and stored texts that no row refers to: run it once
// a day.
func (l *Ledger) DeleteExpiredRows(ctx context.Context) error {
	var found struct {
		Garbage []Call `json:"garbage"`
	}
	if err := l.accepted(ctx, asking("describe-schema"), &found, new(Result)); err != nil {
		return err
	}
	session := l.executor.Session()
	defer session.Close()
	for _, call := range found.Garbage {
		answer, err := session.Run(ctx, &Step{Calls: []Call{call},
			Limits: &Limits{StatementMs: 60000}})
		if err != nil {
			return err
		} else if answer.Code != 200 {
			return assay.Refusal("unavailable.database.statement-failed", "")
		}
	}
	return nil
}

// configured returns a configuration with the engine in its block `ledger`.
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
	if given, there := found["ledger"]; there {
		if err := json.Unmarshal(given, &block); err != nil {
			return nil, fmt.Errorf("%w: config: stores: %v", assay.ErrArgument, err)
		}
	}
	block["engine"] = engine
	if place, needed := map[string]string{
		"sqlite": "qmark", "mariadb": "qmark", "postgres": "dollar"}[engine]; needed {
		block["placeholders"] = place
	}
	var err error
	if found["ledger"], err = json.Marshal(block); err != nil {
		return nil, err
	}
	return json.Marshal(found)
}
