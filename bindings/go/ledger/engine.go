package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The statements of database/sql for each engine, and the meaning of its errors.

// begins are the statements that begin a transaction. They set READ COMMITTED, because a
// server may have another default (STM-4, STM-6).
var begins = map[string][]string{
	"sqlite":   {"BEGIN IMMEDIATE"},
	"postgres": {"BEGIN ISOLATION LEVEL READ COMMITTED"},
	"mariadb":  {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION"},
}

// settings are the statements for a new connection. secure_delete overwrites the text of
// deleted rows (STO-93).
var settings = map[string][]string{
	"sqlite": {"PRAGMA synchronous = FULL", "PRAGMA secure_delete = FAST"},
	"mariadb": {
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		"SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
	},
}

// standbys are the queries that return 1 on a standby or a read-only server (STO-74), and 2 in
// a session without autocommit. In the same round trip PostgreSQL's sets READ COMMITTED as the
// default of the session, which also applies to statements outside a transaction (STO-14).
var standbys = map[string]string{
	"sqlite": "PRAGMA query_only",
	"postgres": "SELECT CASE WHEN pg_is_in_recovery()" +
		" OR current_setting('transaction_read_only') = 'on' THEN 1" +
		" WHEN current_setting('default_transaction_isolation') = 'read committed' THEN 0" +
		" WHEN set_config('default_transaction_isolation', 'read committed', false) = ''" +
		" THEN 1 ELSE 0 END",
	"mariadb": "SELECT CASE WHEN @@global.read_only THEN 1 WHEN @@autocommit THEN 0 ELSE 2 END",
}

// gone are the codes of a connection that was closed before its use.
var gone = map[string]string{"postgres": "08003", "mariadb": "2006", "sqlite": "5"}

// undone are the codes after which the engine has rolled back the whole transaction: a
// deadlock, a full disk.
var undone = map[string]string{"mariadb": " 1205 1213 ", "sqlite": " 7 9 10 11 13 "}

// Limits are the time limits of a step in milliseconds (STO-76).
type Limits struct {
	// StatementMs limits each statement, LockMs each wait for a lock.
	StatementMs int64 `json:"statementMs"`
	LockMs      int64 `json:"lockMs"`
}

// limits returns the limits of the step; the defaults if it has none.
func (s *Step) limits() Limits {
	found := Limits{StatementMs: 5000, LockMs: 2000}
	if s.Limits != nil {
		if s.Limits.StatementMs > 0 {
			found.StatementMs = s.Limits.StatementMs
		}
		if s.Limits.LockMs > 0 {
			found.LockMs = s.Limits.LockMs
		}
	}
	return found
}

func (l Limits) statement() time.Duration { return time.Duration(l.StatementMs) * time.Millisecond }

// settings returns PostgreSQL's statements for the limits. The idle limit is at least 15 s,
// because a grant may wait for something else.
func (l Limits) settings(set string) string {
	idle := l.StatementMs
	if idle < 15000 {
		idle = 15000
	}
	return fmt.Sprintf("%[1]s statement_timeout = %[2]d; %[1]s lock_timeout = %[3]d;"+
		" %[1]s idle_in_transaction_session_timeout = %[4]d", set, l.StatementMs, l.LockMs, idle)
}

// values returns the limits in seconds, the unit of MariaDB.
func (l Limits) values() []any {
	return []any{float64(l.StatementMs) / 1000, (l.LockMs + 999) / 1000}
}

// session returns the statement that sets the limits of a connection.
func (l Limits) session(engine string) string {
	switch engine {
	case "sqlite":
		return fmt.Sprintf("PRAGMA busy_timeout = %d", l.LockMs)
	case "postgres":
		return l.settings("SET")
	}
	// The form /*M! … */ is a comment to MySQL, which has no max_statement_time.
	return fmt.Sprintf("SET SESSION /*M! max_statement_time = %.3f, */"+
		" innodb_lock_wait_timeout = %d", l.values()...)
}

// begin returns the statements that begin a transaction. They set the limits too if the
// connection belongs to the host.
func (l Limits) begin(engine string, own bool) []string {
	if own || engine != "postgres" {
		return begins[engine]
	}
	return []string{begins[engine][0] + "; " + l.settings("SET LOCAL")}
}

// limited returns a statement with its limits, for MariaDB and a connection of the host.
func (l Limits) limited(query, engine string, own bool) string {
	if own || engine != "mariadb" {
		return query
	}
	return fmt.Sprintf("/*M! SET STATEMENT max_statement_time=%.3f,"+
		"innodb_lock_wait_timeout=%d FOR */ ", l.values()...) + query
}

// mark marks the open transaction, and returns what isMarked needs to recognize it.
func mark(ctx context.Context, conn *sql.Conn, engine string) (found string, err error) {
	if engine == "postgres" {
		query := "SELECT CAST(pg_current_xact_id() AS TEXT)"
		err = conn.QueryRowContext(ctx, query).Scan(&found)
		return found, err
	}
	_, err = conn.ExecContext(ctx, "SAVEPOINT "+savepoint)
	return "", err
}

// isMarked reports whether the open transaction is still the marked one: a savepoint ends with
// its transaction. The error is that of a lost session.
func (s *SQL) isMarked(ctx context.Context, conn *sql.Conn, mark string) (same bool, err error) {
	if s.Engine == "postgres" {
		var found sql.NullString
		query := "SELECT CAST(pg_current_xact_id_if_assigned() AS TEXT)"
		err = conn.QueryRowContext(ctx, query).Scan(&found)
		same = found.String == mark
	} else {
		_, err = conn.ExecContext(ctx, "RELEASE SAVEPOINT "+savepoint)
		same = true
	}
	if err == nil {
		return same, nil
	}
	code := s.code(err)
	if s.isLost(code) || errors.Is(err, context.DeadlineExceeded) {
		return false, err
	}
	// PostgreSQL refuses statements after a failed one; the transaction is still open.
	return code == "25P02", nil
}

// isUndone reports whether the engine has rolled back the transaction with this error.
func (s *SQL) isUndone(err error) bool {
	return err != nil && strings.Contains(undone[s.Engine], " "+s.code(err)+" ")
}

// isLost reports whether the connection is lost, so that the statement may or may not have
// run.
func (s *SQL) isLost(code string) bool {
	switch s.Engine {
	case "postgres":
		return code == "" || code == "25P03" ||
			len(code) == 5 && (code[:2] == "08" || code[:3] == "57P")
	case "mariadb":
		return code == "" || strings.Contains(" 1927 2006 2013 4031 ", " "+code+" ")
	}
	return false
}

// codeOfConnect returns the code of a failed connection; "connect" if no server was reached
// (STO-77).
func (s *SQL) codeOfConnect(err error) string {
	code := s.code(err)
	if s.Engine == "sqlite" {
		if code == "1" {
			return "14"
		}
		return code
	}
	if code == "" || strings.HasPrefix(code, "08") ||
		strings.Contains(" 2002 2003 2005 2006 2013 ", " "+code+" ") {
		return "connect"
	}
	return code
}
