package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log"
	"reflect"
	"strconv"
	"sync"
	"time"

	assay "assay.example/bindings/go"
)

// SQL runs database steps with database/sql and the driver that you import: SQLite,
// PostgreSQL, MariaDB. An exchange uses one connection; an open transaction is rolled back
// before the connection returns to the pool. Each statement and each wait for a lock has the
// limit of the step (STO-76).
type SQL struct {
	// DB is a pool of connections to the primary. Open a file of SQLite with "mode=rw": a file
	// that is missing and created anew would grant each purchase again (STO-78). A pool of
	// MariaDB has autocommit on, or a step returns misuse.ledger.transaction.
	DB *sql.DB
	// Engine is "sqlite", "postgres" or "mariadb".
	Engine string
	// Timeout limits a step; 0 means 10 s more than the limit of a statement. A connection
	// that exceeds it is closed.
	Timeout time.Duration
	// Code returns the code of a driver's error: SQLSTATE of PostgreSQL, the number of the
	// others; nil supports lib/pq, pgx, go-sql-driver/mysql, mattn/go-sqlite3 and
	// modernc.org/sqlite.
	Code func(error) string

	// own is whether only the ledger uses the pool; file and created are SQLite's file, and
	// the address that creates it.
	own                   bool
	driver, file, created string

	mutex sync.Mutex
	// known has the connections of the pool that lead to a primary, with the limits of their
	// sessions.
	known map[any]Limits
}

// EngineName returns the configured engine.
func (s *SQL) EngineName() string { return s.Engine }

// Session returns a session, which takes a connection at its first step.
func (s *SQL) Session() Session { return &sqlSession{store: s} }

type sqlSession struct {
	store    *SQL
	conn     *sql.Conn
	isInside bool
	// guard is that of the running grant; mark is the value by which isMarked recognizes its
	// transaction.
	guard *guard
	mark  string
}

// errStandby is the error of a connection that does not lead to a primary.
var errStandby = errors.New("ledger: not a primary")

// errManual is the error of a connection of the host without autocommit.
var errManual = errors.New("ledger: a session without autocommit")

func (s *sqlSession) Run(parent context.Context, step *Step) (*Reply, error) {
	timeout := s.store.Timeout
	if timeout == 0 {
		timeout = 10*time.Second + step.limits().statement()
	}
	ctx, cancel := context.WithTimeout(parent, timeout)
	defer cancel()
	results, certain, err := s.run(ctx, step, s.transaction(step))
	if err == nil {
		return &Reply{ID: step.ID, Code: 200, Results: results}, nil
	}
	if parent.Err() != nil {
		s.drop()
		return nil, parent.Err()
	}
	if errors.Is(err, errManual) {
		return nil, assay.Refusal("misuse.ledger.transaction", "a connection of the pool has"+
			" autocommit off: what the ledger stores would not be committed (STM-5)")
	}
	return s.failed(step, err, certain), nil
}

// transaction returns the transaction of the step, or "single" if the step has none but its
// limits need one.
func (s *sqlSession) transaction(step *Step) string {
	if step.Transaction == "" && !s.isInside && !s.store.own && s.store.Engine == "postgres" {
		return "single"
	}
	return step.Transaction
}

// run also returns, with an error, whether a rollback undoes all of the step.
func (s *sqlSession) run(ctx context.Context, step *Step, transaction string) (
	found []CallResult, certain bool, err error,
) {
	limits, engine, own := step.limits(), s.store.Engine, s.store.own
	if s.conn == nil {
		if s.conn, err = s.store.connect(ctx, limits); err != nil {
			return nil, true, err
		}
	}
	if err := s.store.limit(ctx, s.conn, limits); err != nil {
		return nil, true, err
	}
	beginning := transaction == "begin" || transaction == "single"
	switch {
	case transaction != "" && beginning == s.isInside:
		return nil, true, fmt.Errorf("ledger: a transaction begins once")
	case beginning:
		for _, statement := range limits.begin(engine, own) {
			if _, err := s.conn.ExecContext(ctx, statement); err != nil {
				return nil, true, err
			}
		}
		s.isInside = true
	}
	for _, call := range step.Calls {
		call.SQL = limits.limited(call.SQL, engine, own)
		result, err := s.limited(ctx, call, limits)
		if err != nil {
			return nil, s.isInside || len(found) == 0, err
		}
		found = append(found, result)
	}
	if transaction == "commit" || transaction == "single" {
		if _, err := s.conn.ExecContext(ctx, "COMMIT"); err != nil {
			return nil, false, err
		}
		s.isInside = false
	}
	return found, true, nil
}

// limited ends a statement that the engine does not end itself: SQLite's at its limit, that of
// a server one second later.
func (s *sqlSession) limited(ctx context.Context, call Call, limits Limits) (CallResult, error) {
	timeout := limits.statement()
	if s.store.Engine != "sqlite" {
		timeout += time.Second
	}
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	result, err := s.call(within, call)
	if err != nil && s.store.Engine == "sqlite" && within.Err() != nil && ctx.Err() == nil {
		err = errInterrupted
	}
	return result, err
}

// errInterrupted is SQLite's error of a statement that was interrupted.
var errInterrupted = interrupted{Code: 9}

type interrupted struct{ Code int }

func (interrupted) Error() string { return "ledger: the statement was ended" }

func (s *sqlSession) call(ctx context.Context, call Call) (CallResult, error) {
	args := make([]any, len(call.Args))
	for i, arg := range call.Args {
		args[i] = arg.any
	}
	if !call.ReturnsRows {
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

// read returns the values of all rows.
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

// failed rolls back, and returns the reply with the engine's code.
func (s *sqlSession) failed(step *Step, err error, certain bool) *Reply {
	code := s.store.code(err)
	switch {
	case errors.Is(err, errStandby):
		s.drop()
		return failed(step, standby, true)
	case s.conn == nil:
		// There was no connection.
		code = s.store.codeOfConnect(err)
		if s.store.file != "" {
			log.Printf("assay: the store %s cannot be opened (SQLite %s)", s.store.file, code)
		}
		return failed(step, code, true)
	case errors.Is(err, driver.ErrBadConn) && certain:
		// By its contract the driver has sent nothing.
		s.drop()
		return failed(step, gone[s.store.Engine], true)
	case s.store.isLost(code) || errors.Is(err, context.DeadlineExceeded):
		s.drop()
		return &Reply{ID: step.ID}
	}
	s.Rollback()
	return failed(step, code, certain && s.conn != nil)
}

func (s *sqlSession) EnterGrant(ctx context.Context) Target {
	if !s.isInside {
		return Target{}
	}
	// A failure here is detected by LeaveGrant after the grant.
	s.mark, _ = mark(ctx, s.conn, s.store.Engine)
	s.guard = &guard{conn: s.conn, engine: s.store.Engine}
	return Target{Tx: s.guard}
}

func (s *sqlSession) LeaveGrant(thrown error) *Reply {
	if s.guard == nil {
		return nil
	}
	hit := s.guard.close()
	s.guard = nil
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	same, err := s.store.isMarked(ctx, s.conn, s.mark)
	switch {
	case err != nil:
		s.drop()
		return &Reply{}
	case same && !hit:
		return nil
	}
	// The open transaction is unknown: it is rolled back, and its connection closed.
	_, _ = s.conn.ExecContext(ctx, "ROLLBACK")
	s.drop()
	if !hit && s.store.isUndone(thrown) {
		return nil
	}
	return failed(&Step{}, "transaction", false)
}

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

// drop closes a connection whose statement may still be running; the engine then rolls back
// the open transaction.
func (s *sqlSession) drop() {
	s.isInside = false
	if s.conn != nil {
		_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
		_ = s.conn.Close()
		s.conn = nil
	}
}

// connect takes a connection to a primary from the pool.
func (s *SQL) connect(ctx context.Context, limits Limits) (*sql.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, limits.statement())
	defer cancel()
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

// prepare sets up a new connection, and checks that it leads to a primary.
func (s *SQL) prepare(ctx context.Context, conn *sql.Conn) error {
	own, err := ownOf(conn)
	if err != nil {
		return err
	}
	s.mutex.Lock()
	_, known := s.known[own]
	s.mutex.Unlock()
	if known {
		return nil
	}
	statements := settings[s.Engine]
	if s.own && s.Engine == "mariadb" {
		statements = append([]string{"SET SESSION autocommit = 1"}, statements...)
	}
	for _, setting := range statements {
		if _, err := conn.ExecContext(ctx, setting); err != nil {
			return err
		}
	}
	var no int64
	err = conn.QueryRowContext(ctx, standbys[s.Engine]).Scan(&no)
	switch {
	case err != nil:
		return err
	case no == 2:
		return errManual
	case no != 0:
		return errStandby
	}
	s.know(own, Limits{})
	return nil
}

// limit sets the limits of a session, if they have changed, for SQLite and for a pool that
// only the ledger uses.
func (s *SQL) limit(ctx context.Context, conn *sql.Conn, limits Limits) error {
	if !s.own && s.Engine != "sqlite" {
		return nil
	}
	own, err := ownOf(conn)
	if err != nil {
		return err
	}
	s.mutex.Lock()
	found := s.known[own]
	s.mutex.Unlock()
	if found == limits {
		return nil
	}
	if _, err := conn.ExecContext(ctx, limits.session(s.Engine)); err != nil {
		return err
	}
	s.know(own, limits)
	return nil
}

// ownOf returns the driver's own connection.
func ownOf(conn *sql.Conn) (found any, err error) {
	err = conn.Raw(func(own any) error { found = own; return nil })
	return found, err
}

func (s *SQL) know(own any, limits Limits) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	// Removes connections that the pool has closed, from time to time.
	if s.known == nil || len(s.known) > 1000 {
		s.known = map[any]Limits{}
	}
	s.known[own] = limits
}

// code returns the engine's code of an error in the form of STO-71; empty if it has none.
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
			// The low byte of an extended code is the code; 8 is a read-only file.
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

// numberOf returns the number of an error of a driver whose package is not imported: its
// method Code, or its field Code or Number.
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
