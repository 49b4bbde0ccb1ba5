package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// What database/sql has to say to each engine, and what its errors mean.

// READ COMMITTED is set, not hoped for (STM-4, STM-6).
var begins = map[string][]string{
	"sqlite":   {"BEGIN IMMEDIATE"},
	"postgres": {"BEGIN ISOLATION LEVEL READ COMMITTED"},
	"mariadb":  {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION"},
}

// What a new connection is told: a deleted row leaves no text behind (STO-93).
var settings = map[string][]string{
	"sqlite": {"PRAGMA synchronous = FULL", "PRAGMA secure_delete = FAST"},
	"mariadb": {
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		"SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
	},
}

// 1 on a standby, or where nothing can be written (STO-74). PostgreSQL's statements outside a
// transaction run under what the role says: READ COMMITTED from here on, where it says
// otherwise (STO-14), in the same round trip.
var standbys = map[string]string{
	"sqlite": "PRAGMA query_only",
	"postgres": "SELECT CASE WHEN pg_is_in_recovery()" +
		" OR current_setting('transaction_read_only') = 'on' THEN 1" +
		" WHEN current_setting('default_transaction_isolation') = 'read committed' THEN 0" +
		" WHEN set_config('default_transaction_isolation', 'read committed', false) = ''" +
		" THEN 1 ELSE 0 END",
	"mariadb": "SELECT @@global.read_only",
}

// Of a connection that was closed before its use.
var gone = map[string]string{"postgres": "08003", "mariadb": "2006", "sqlite": "5"}

// The engine undid the whole transaction by itself: a deadlock, a full disk.
var undone = map[string]string{"mariadb": " 1205 1213 ", "sqlite": " 7 9 10 11 13 "}

// Limits are those of STO-76.
type Limits struct {
	// Of each statement, and of each wait for a lock.
	StatementMs int64 `json:"statementMs"`
	LockMs      int64 `json:"lockMs"`
}

// limits are those of the step; the defaults where it names none.
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

// settings of PostgreSQL. A grant that waits for something else has 15 s at least.
func (l Limits) settings(set string) string {
	idle := l.StatementMs
	if idle < 15000 {
		idle = 15000
	}
	return fmt.Sprintf("%[1]s statement_timeout = %[2]d; %[1]s lock_timeout = %[3]d;"+
		" %[1]s idle_in_transaction_session_timeout = %[4]d", set, l.StatementMs, l.LockMs, idle)
}

// values of MariaDB, which counts in seconds.
func (l Limits) values() []any {
	return []any{float64(l.StatementMs) / 1000, (l.LockMs + 999) / 1000}
}

// session sets the limits of a connection.
func (l Limits) session(engine string) string {
	switch engine {
	case "sqlite":
		return fmt.Sprintf("PRAGMA busy_timeout = %d", l.LockMs)
	case "postgres":
		return l.settings("SET")
	}
	// MySQL, which has no max_statement_time, takes it for a comment.
	return fmt.Sprintf("SET SESSION /*M! max_statement_time = %.3f, */"+
		" innodb_lock_wait_timeout = %d", l.values()...)
}

// begin is how a transaction begins, with limits of its own where the connection is the
// host's.
func (l Limits) begin(engine string, own bool) []string {
	if own || engine != "postgres" {
		return begins[engine]
	}
	return []string{begins[engine][0] + "; " + l.settings("SET LOCAL")}
}

// statement of MariaDB has its own limits where the connection is the host's.
func (l Limits) limited(query, engine string, own bool) string {
	if own || engine != "mariadb" {
		return query
	}
	return fmt.Sprintf("/*M! SET STATEMENT max_statement_time=%.3f,"+
		"innodb_lock_wait_timeout=%d FOR */ ", l.values()...) + query
}

// mark marks the open transaction; what isMarked needs to know it again.
func mark(ctx context.Context, conn *sql.Conn, engine string) (found string, err error) {
	if engine == "postgres" {
		query := "SELECT CAST(pg_current_xact_id() AS TEXT)"
		err = conn.QueryRowContext(ctx, query).Scan(&found)
		return found, err
	}
	_, err = conn.ExecContext(ctx, "SAVEPOINT "+savepoint)
	return "", err
}

// isMarked says whether the open transaction is still the marked one: a savepoint goes with its
// transaction. The error is that of a session that was lost.
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
	// PostgreSQL takes no statement after one that failed; its transaction is open.
	return code == "25P02", nil
}

// isUndone says whether the engine itself undid the transaction, with this error.
func (s *SQL) isUndone(err error) bool {
	return err != nil && strings.Contains(undone[s.Engine], " "+s.code(err)+" ")
}

// isLost says that the connection is gone, and nobody knows what became of the statement.
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

// codeOfConnect is the code of a connection that could not be made; "connect": nothing was
// reached (STO-77).
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
