package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync"

	assay "assay.example/bindings/go"
)

// savepoint is the name by which isMarked recognizes the ledger's transaction after a grant.
const savepoint = "assay_grant"

// errOver is the error of a grant that uses its connection after its end.
var errOver = errors.New("ledger: the grant is over, and its transaction with it")

// A guard is the connection that a grant writes with, in the transaction of its claim.
// Statements pass; one that would end or change the transaction is refused, and the claim is
// rolled back (STO-38). The guard ends with the grant.
type guard struct {
	conn   *sql.Conn
	engine string

	mutex sync.Mutex
	over  bool
	hit   bool
}

// check returns the error for a refused statement; nil if it may pass.
func (g *guard) check(query string) error {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.over {
		return errOver
	}
	if !endsTransaction(query, g.engine) {
		return nil
	}
	g.hit = true
	return assay.Refusal("misuse.ledger.transaction", "")
}

// close ends the guard, and reports whether the grant tried to end the transaction.
func (g *guard) close() bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.over = true
	return g.hit
}

func (g *guard) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := g.check(query); err != nil {
		return nil, err
	}
	return g.conn.ExecContext(ctx, query, args...)
}

func (g *guard) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := g.check(query); err != nil {
		return nil, err
	}
	return g.conn.QueryContext(ctx, query, args...)
}

func (g *guard) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if err := g.check(query); err != nil {
		// A Row has an error only from a query: this query fails before it is sent.
		return g.conn.QueryRowContext(ctx, "SELECT 1", refusedValue{err})
	}
	return g.conn.QueryRowContext(ctx, query, args...)
}

func (g *guard) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	if err := g.check(query); err != nil {
		return nil, err
	}
	return g.conn.PrepareContext(ctx, query)
}

// A refusedValue is an argument whose conversion fails.
type refusedValue struct{ why error }

func (r refusedValue) Value() (driver.Value, error) { return nil, r.why }

// endsTransaction reports whether a statement of a text ends the transaction, begins another
// one or sets the autocommit mode.
func endsTransaction(text, engine string) bool {
	for _, words := range statements(text, engine) {
		has := func(word string) bool {
			for _, each := range words {
				if each == word {
					return true
				}
			}
			return false
		}
		switch words[0] {
		case "BEGIN", "START", "COMMIT", "END", "ABORT", "XA":
			return true
		case "ROLLBACK", "SAVEPOINT", "RELEASE":
			if words[0] == "ROLLBACK" && !has("TO") || has(strings.ToUpper(savepoint)) {
				return true
			}
		case "PREPARE":
			if len(words) > 1 && words[1] == "TRANSACTION" {
				return true
			}
		case "SET":
			if has("AUTOCOMMIT") {
				return true
			}
		case "CREATE":
			// The body of a trigger or a procedure has statements of its own.
			return false
		}
	}
	return false
}

// statements returns the words of each statement in upper case, without values, quoted names
// and comments. A comment that MySQL executes counts as statements.
func statements(text, engine string) (found [][]string) {
	var words []string
	for text != "" {
		if length := skipped(text, engine); length > 0 {
			text = text[length:]
			continue
		}
		length := 0
		for length < len(text) && isWord(text[length]) {
			length++
		}
		switch {
		case length > 0:
			words = append(words, strings.ToUpper(text[:length]))
		case text[0] == ';' && words != nil:
			found, words = append(found, words), nil
		}
		if length == 0 {
			length = 1
		}
		text = text[length:]
	}
	if words != nil {
		found = append(found, words)
	}
	return found
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// skipped returns the length of the comment, value or quoted name at the start of a text.
func skipped(text, engine string) int {
	mariadb, postgres := engine == "mariadb", engine == "postgres"
	switch {
	case strings.HasPrefix(text, "--"), mariadb && text[0] == '#':
		return until(text, 1, "\n")
	case mariadb && (strings.HasPrefix(text, "/*!") || strings.HasPrefix(text, "/*M!")):
		length := strings.IndexByte(text, '!') + 1
		for length < len(text) && text[length] >= '0' && text[length] <= '9' {
			length++
		}
		return length
	case strings.HasPrefix(text, "/*"):
		return until(text, 2, "*/")
	case postgres && len(text) > 1 && text[0]|0x20 == 'e' && text[1] == '\'':
		return 1 + quoted(text[1:], true)
	case text[0] == '\'' || text[0] == '"':
		return quoted(text, mariadb)
	case text[0] == '`' && !postgres:
		return quoted(text, false)
	case text[0] == '[' && engine == "sqlite":
		return until(text, 1, "]")
	case text[0] == '$' && postgres:
		end := 1
		for end < len(text) && isWord(text[end]) {
			end++
		}
		if end < len(text) && text[end] == '$' {
			return until(text, end+1, text[:end+1])
		}
	}
	return 0
}

// until returns the length up to the end of mark, searched from the index from.
func until(text string, from int, mark string) int {
	if place := strings.Index(text[from:], mark); place >= 0 {
		return from + place + len(mark)
	}
	return len(text)
}

// quoted returns the length of a quoted text; a doubled quote counts as the end of one text
// and the start of the next.
func quoted(text string, escapes bool) int {
	for at := 1; at < len(text); at++ {
		switch {
		case text[at] == text[0]:
			return at + 1
		case text[at] == '\\' && escapes:
			at++
		}
	}
	return len(text)
}
