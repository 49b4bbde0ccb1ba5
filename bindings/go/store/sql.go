package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"
)

// SQL carries out statements over database/sql, with the driver that you import: SQLite,
// PostgreSQL, MariaDB. A conversation has one connection; what it leaves open is rolled back
// before the connection goes back to the pool.
type SQL struct {
	// The address of the primary.
	DB *sql.DB
	// "sqlite", "postgres" or "mysql".
	Engine string
	// Timeout of a step; 0: 15 s. A connection that is over it is closed.
	Timeout time.Duration
	// Code reads an error of the driver: SQLSTATE of PostgreSQL, the number of the others;
	// nil: as lib/pq, pgx, go-sql-driver/mysql, mattn/go-sqlite3 and modernc.org/sqlite have it.
	Code func(error) string

	mutex sync.Mutex
	// Connections of the pool that lead to a primary.
	known map[any]bool
}

// READ COMMITTED is set, not hoped for (STM-4, STM-6).
var begins = map[string][]string{
	"sqlite":   {"BEGIN IMMEDIATE"},
	"postgres": {"BEGIN ISOLATION LEVEL READ COMMITTED"},
	"mysql":    {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION"},
}

// What a new connection is told.
var settings = map[string][]string{
	"sqlite": {"PRAGMA busy_timeout = 5000", "PRAGMA synchronous = FULL"},
	"mysql": {
		"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
		"SET SESSION innodb_lock_wait_timeout = 5",
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
	"mysql": "SELECT @@global.read_only",
}

// Codes for what drivers say without one: no connection, and one that was closed before.
var (
	unreachable = map[string]string{"postgres": "08001", "mysql": "2003", "sqlite": "14"}
	gone        = map[string]string{"postgres": "08003", "mysql": "2006", "sqlite": "5"}
)

// Dialect is the engine.
func (s *SQL) Dialect() string { return s.Engine }

// Session takes a connection at its first step.
func (s *SQL) Session() Session { return &sqlSession{store: s} }

type sqlSession struct {
	store    *SQL
	conn     *sql.Conn
	isInside bool
}

// errStandby says that a connection leads to no primary.
var errStandby = errors.New("store: not a primary")

func (s *sqlSession) CarryOut(parent context.Context, step *Step) (*Answer, error) {
	timeout := s.store.Timeout
	if timeout == 0 {
		timeout = 15 * time.Second
	}
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	results, certain, err := s.run(ctx, step)
	if err == nil {
		return &Answer{ID: step.ID, Code: 200, Results: results}, nil
	}
	if parent.Err() != nil {
		s.drop()
		return nil, parent.Err()
	}
	return s.failed(step, err, certain), nil
}

// run also says, of an error, whether nothing of the step stays once it is rolled back.
func (s *sqlSession) run(ctx context.Context, step *Step) (
	found []CallResult, certain bool, err error,
) {
	if s.conn == nil {
		if s.conn, err = s.store.connect(ctx); err != nil {
			return nil, true, err
		}
	}
	switch {
	case step.Transaction != "" && step.begins() == s.isInside:
		return nil, true, fmt.Errorf("store: a transaction begins once")
	case step.begins():
		for _, statement := range begins[s.store.Engine] {
			if _, err := s.conn.ExecContext(ctx, statement); err != nil {
				return nil, true, err
			}
		}
		s.isInside = true
	}
	for _, call := range step.Run {
		result, err := s.call(ctx, call)
		if err != nil {
			return nil, s.isInside || len(found) == 0, err
		}
		found = append(found, result)
	}
	if step.ends() {
		if _, err := s.conn.ExecContext(ctx, "COMMIT"); err != nil {
			return nil, false, err
		}
		s.isInside = false
	}
	return found, true, nil
}

func (s *sqlSession) call(ctx context.Context, call Call) (CallResult, error) {
	args := make([]any, len(call.Args))
	for i, arg := range call.Args {
		args[i] = arg.any
	}
	if !call.Rows {
		_, err := s.conn.ExecContext(ctx, call.SQL, args...)
		return CallResult{}, err
	}
	rows, err := s.conn.QueryContext(ctx, call.SQL, args...)
	if err != nil {
		return CallResult{}, err
	}
	defer rows.Close()
	found, err := read(rows)
	return CallResult{Rows: &found}, err
}

// read has the values of all rows, up to the end.
func read(rows *sql.Rows) ([][]any, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	found := [][]any{}
	for rows.Next() {
		row, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			places[i] = &row[i]
		}
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		for i, value := range row {
			if octets, ok := value.([]byte); ok {
				row[i] = string(octets)
			}
		}
		found = append(found, row)
	}
	return found, rows.Err()
}

// failed undoes what is open, and says what the engine said.
func (s *sqlSession) failed(step *Step, err error, certain bool) *Answer {
	code := s.store.code(err)
	switch {
	case errors.Is(err, errStandby):
		s.drop()
		return failed(step, standby, true)
	case s.conn == nil:
		// There was no connection.
		if code == "" {
			code = unreachable[s.store.Engine]
		}
		return failed(step, code, true)
	case errors.Is(err, driver.ErrBadConn) && certain:
		// By its contract nothing was sent.
		s.drop()
		return failed(step, gone[s.store.Engine], true)
	case s.store.isLost(code) || errors.Is(err, context.DeadlineExceeded):
		s.drop()
		return &Answer{ID: step.ID}
	}
	s.Rollback()
	return failed(step, code, certain && s.conn != nil)
}

// isLost says that the connection is gone, and nobody knows what became of the statement.
func (s *SQL) isLost(code string) bool {
	switch s.Engine {
	case "postgres":
		return code == "" || len(code) == 5 && (code[:2] == "08" || code[:3] == "57P")
	case "mysql":
		return code == "" || code == "2006" || code == "2013"
	}
	return false
}

func (s *sqlSession) Grant(grant *Grant) { grant.Tx = s.conn }

func (s *sqlSession) Rollback() {
	if !s.isInside {
		return
	}
	s.isInside = false
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := s.conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		s.drop()
	}
}

func (s *sqlSession) Close() {
	s.Rollback()
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
}

// drop closes a connection whose statement may still be running; the engine undoes what it
// left open.
func (s *sqlSession) drop() {
	s.isInside = false
	if s.conn != nil {
		_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
		_ = s.conn.Close()
		s.conn = nil
	}
}

// connect takes a connection to a primary.
func (s *SQL) connect(ctx context.Context) (*sql.Conn, error) {
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, conn); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// prepare sets a connection up at its first use, and asks where it leads.
func (s *SQL) prepare(ctx context.Context, conn *sql.Conn) error {
	var own any
	if err := conn.Raw(func(found any) error { own = found; return nil }); err != nil {
		return err
	}
	s.mutex.Lock()
	known := s.known[own]
	s.mutex.Unlock()
	if known {
		return nil
	}
	for _, setting := range settings[s.Engine] {
		if _, err := conn.ExecContext(ctx, setting); err != nil {
			return err
		}
	}
	var no int64
	if err := conn.QueryRowContext(ctx, standbys[s.Engine]).Scan(&no); err != nil {
		return err
	} else if no != 0 {
		return errStandby
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	// Connections that the pool has closed are forgotten now and then.
	if s.known == nil || len(s.known) > 1000 {
		s.known = map[any]bool{}
	}
	s.known[own] = true
	return nil
}

// code is the engine's code of an error, as STO-71 names it; empty where it has none.
func (s *SQL) code(err error) string {
	if s.Code != nil {
		return s.Code(err)
	}
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState()
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if number, found := numberOf(err); found {
			if s.Engine != "sqlite" {
				return strconv.FormatInt(number, 10)
			}
			// Of an extended code the first byte is the code; 8 is a file to be read alone.
			if number &= 0xff; number == 8 {
				return standby
			}
			return strconv.FormatInt(number, 10)
		}
	}
	if s.Engine == "sqlite" {
		return "1"
	}
	return ""
}

// numberOf is the number of an error of a driver, whose package this one does not import:
// its method Code, or its field Code or Number.
func numberOf(err error) (int64, bool) {
	if coded, ok := err.(interface{ Code() int }); ok {
		return int64(coded.Code()), true
	}
	value := reflect.Indirect(reflect.ValueOf(err))
	if value.Kind() != reflect.Struct {
		return 0, false
	}
	for _, name := range []string{"Code", "Number"} {
		switch field := value.FieldByName(name); {
		case !field.IsValid():
		case field.CanInt():
			return field.Int(), true
		case field.CanUint():
			return int64(field.Uint()), true
		}
	}
	return 0, false
}
