package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

var background = context.Background()

// A fake is a database that records its statements, and answers as a test wants.
type fake struct {
	mutex  sync.Mutex
	told   []string
	opened int
	closed int
	// says has the error of a statement.
	says map[string]error
	// rows has the row of statements that contain this text.
	rows map[string]driver.Value
}

type fakeConn struct{ fake *fake }

func (f *fake) Connect(context.Context) (driver.Conn, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if err := f.says["connect"]; err != nil {
		return nil, err
	}
	f.opened++
	return &fakeConn{f}, nil
}

func (f *fake) Driver() driver.Driver { return nil }

func (c *fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not prepared") }
func (c *fakeConn) Begin() (driver.Tx, error)           { return nil, errors.New("not begun") }

func (c *fakeConn) Close() error {
	c.fake.mutex.Lock()
	defer c.fake.mutex.Unlock()
	c.fake.closed++
	return nil
}

func (c *fakeConn) hear(ctx context.Context, query string) error {
	c.fake.mutex.Lock()
	c.fake.told = append(c.fake.told, query)
	says := c.fake.says
	c.fake.mutex.Unlock()
	if strings.Contains(query, "SLOW") {
		<-ctx.Done()
		return ctx.Err()
	}
	return says[query]
}

func (c *fakeConn) ExecContext(ctx context.Context, query string, _ []driver.NamedValue) (
	driver.Result, error,
) {
	return driver.ResultNoRows, c.hear(ctx, query)
}

func (c *fakeConn) QueryContext(ctx context.Context, query string, _ []driver.NamedValue) (
	driver.Rows, error,
) {
	if err := c.hear(ctx, query); err != nil {
		return nil, err
	}
	for text, value := range c.fake.rows {
		if strings.Contains(query, text) {
			return &fakeRows{value: value}, nil
		}
	}
	return &fakeRows{value: int64(0)}, nil
}

type fakeRows struct {
	value driver.Value
	over  bool
}

func (r *fakeRows) Columns() []string { return []string{"c"} }
func (r *fakeRows) Close() error      { return nil }

func (r *fakeRows) Next(row []driver.Value) error {
	if r.over {
		return io.EOF
	}
	row[0], r.over = r.value, true
	return nil
}

// faked returns an executor over its own fake.
func faked(t *testing.T, engine string, says map[string]error) (*fake, *SQL) {
	f := &fake{says: says, rows: map[string]driver.Value{}}
	db := sql.OpenDB(f)
	t.Cleanup(func() { db.Close() })
	return f, &SQL{DB: db, Engine: engine, Timeout: 200 * time.Millisecond, own: true}
}

func step(transaction string, statements ...string) *Step {
	made := &Step{ID: 7, Transaction: transaction}
	for _, statement := range statements {
		rows := strings.HasPrefix(statement, "SELECT")
		made.Calls = append(made.Calls, Call{SQL: statement, ReturnsRows: rows})
	}
	return made
}

// stated is a PostgreSQL error in the form of lib/pq and pgx.
type stated string

func (s stated) Error() string    { return "refused: " + string(s) }
func (s stated) SQLState() string { return string(s) }

// numbered is an error in the form of go-sql-driver/mysql.
type numbered struct {
	Number  uint16
	Message string
}

func (n *numbered) Error() string { return n.Message }

// coded is an error in the form of mattn/go-sqlite3.
type codeNumber int
type coded struct{ Code codeNumber }

func (c coded) Error() string { return "refused" }

// asked is an error in the form of modernc.org/sqlite.
type asked int

func (a *asked) Error() string { return "refused" }
func (a *asked) Code() int     { return int(*a) }

func TestCodes(t *testing.T) {
	extended := asked(5 | 2<<8)
	for _, each := range []struct {
		engine string
		err    error
		wanted string
	}{
		{"postgres", stated("40001"), "40001"}, {"postgres", io.EOF, ""},
		{"mariadb", &numbered{1213, "deadlock"}, "1213"}, {"mariadb", io.ErrUnexpectedEOF, ""},
		{"sqlite", coded{13}, "13"}, {"sqlite", &extended, "5"}, {"sqlite", coded{8}, standby},
		{"sqlite", io.EOF, "1"},
	} {
		if code := (&SQL{Engine: each.engine}).code(each.err); code != each.wanted {
			t.Errorf("%s: %v is %q, not %q", each.engine, each.err, code, each.wanted)
		}
	}
	own := &SQL{Engine: "postgres", Code: func(error) string { return "55P03" }}
	if code := own.code(io.EOF); code != "55P03" {
		t.Errorf("the own code is %q", code)
	}
}

// Asserts the order of statements, over a pool of the ledger and over one of the host.
func TestTransactionsOfEngines(t *testing.T) {
	const postgres, mariadb = "BEGIN ISOLATION LEVEL READ COMMITTED",
		"SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
	limited := postgres + "; SET LOCAL statement_timeout = 5000; SET LOCAL lock_timeout = 900;" +
		" SET LOCAL idle_in_transaction_session_timeout = 15000"
	set := "/*M! SET STATEMENT max_statement_time=5.000,innodb_lock_wait_timeout=1 FOR */ "
	for engine, wanted := range map[string][]string{
		"postgres own": {"pg_is_in_recovery", "SET statement_timeout = 5000;" +
			" SET lock_timeout = 900; SET idle_in_transaction_session_timeout = 15000",
			postgres, "A", "B", "COMMIT", postgres, "C", "COMMIT", "D"},
		"postgres": {"pg_is_in_recovery", limited, "A", "B", "COMMIT", limited, "C", "COMMIT",
			limited, "D", "COMMIT"},
		"mariadb own": {"autocommit = 1", "SESSION TRANSACTION", "sql_mode", "read_only",
			"SET SESSION /*M! max_statement_time = 5.000, */ innodb_lock_wait_timeout = 1",
			mariadb, "START TRANSACTION", "A", "B", "COMMIT", mariadb, "START TRANSACTION", "C",
			"COMMIT", "D"},
		"mariadb": {"SESSION TRANSACTION", "sql_mode", "read_only", mariadb, "START TRANSACTION",
			set + "A", set + "B", "COMMIT", mariadb, "START TRANSACTION", set + "C", "COMMIT",
			set + "D"},
		"sqlite": {"synchronous", "secure_delete", "query_only", "busy_timeout = 900",
			"BEGIN IMMEDIATE", "A", "B", "COMMIT", "BEGIN IMMEDIATE", "C", "COMMIT", "D"},
	} {
		name, own, _ := strings.Cut(engine, " ")
		f, executor := faked(t, name, nil)
		executor.own = own != ""
		session := executor.Session()
		for _, open := range []*Step{step("begin", "A"), step("within"), step("commit", "B"),
			step("single", "C"), step("", "D")} {
			open.Limits = &Limits{LockMs: 900}
			answer, err := session.Run(context.Background(), open)
			if err != nil || answer.Code != 200 {
				t.Fatalf("%s: %+v, %v", engine, answer, err)
			}
		}
		session.Close()
		if len(f.told) != len(wanted) {
			t.Fatalf("%s was told %q", engine, f.told)
		}
		for i, text := range wanted {
			if !strings.Contains(f.told[i], text) {
				t.Errorf("%s was told %q, not %q", engine, f.told[i], text)
			}
		}
	}
}

func TestFailures(t *testing.T) {
	for _, each := range []struct {
		name   string
		says   map[string]error
		steps  []*Step
		wanted string
		// closed is whether the connection was closed.
		closed bool
	}{
		{"a conflict", map[string]error{"A": stated("40001")}, []*Step{step("begin", "A")},
			`500 40001 no`, false},
		{"the first statement", map[string]error{"A": stated("42P01")}, []*Step{step("", "A")},
			`500 42P01 no`, false},
		{"the second statement", map[string]error{"B": stated("42P01")},
			[]*Step{step("", "A", "B")}, `500 42P01 unknown`, false},
		{"the second in a transaction", map[string]error{"B": stated("42P01")},
			[]*Step{step("begin", "A"), step("within", "A", "B")}, `500 42P01 no`, false},
		{"the commit", map[string]error{"COMMIT": stated("40001")},
			[]*Step{step("begin", "A"), step("commit")}, `500 40001 unknown`, false},
		{"the second of a whole one", map[string]error{"B": stated("42P01")},
			[]*Step{step("single", "A", "B")}, `500 42P01 no`, false},
		{"the commit of a whole one", map[string]error{"COMMIT": stated("40001")},
			[]*Step{step("single", "A")}, `500 40001 unknown`, false},
		{"a whole one whose commit is lost", map[string]error{"COMMIT": io.EOF},
			[]*Step{step("single", "A")}, `0`, true},
		{"a whole one inside another", nil, []*Step{step("begin", "A"), step("single", "B")},
			`0`, true},
		{"a lost connection", map[string]error{"A": io.EOF}, []*Step{step("", "A")}, `0`, true},
		{"an engine that ends", map[string]error{"A": stated("57P01")},
			[]*Step{step("begin", "A")}, `0`, true},
		{"a rollback that fails", map[string]error{"A": stated("40001"), "ROLLBACK": io.EOF},
			[]*Step{step("begin", "A")}, `500 40001 unknown`, true},
		{"no connection", map[string]error{"connect": io.EOF}, []*Step{step("", "A")},
			`500 connect no`, false},
		{"an address of nobody", map[string]error{"connect": stated("08006")},
			[]*Step{step("", "A")}, `500 connect no`, false},
		{"an idle transaction that was ended", map[string]error{"A": stated("25P03")},
			[]*Step{step("begin"), step("within", "A")}, `0`, true},
		{"a refused connection", map[string]error{"connect": stated("28P01")},
			[]*Step{step("", "A")}, `500 28P01 no`, false},
		{"too late", nil, []*Step{step("", "SLOW")}, `0`, true},
		{"no transaction", nil, []*Step{step("commit", "A")}, `0`, true},
	} {
		f, executor := faked(t, "postgres", each.says)
		session := executor.Session()
		var answer *Reply
		var err error
		for _, open := range each.steps {
			if answer, err = session.Run(context.Background(), open); err != nil {
				t.Fatalf("%s: %v", each.name, err)
			}
		}
		session.Close()
		if said := shown(answer); said != each.wanted || (f.closed > 0) != each.closed {
			t.Errorf("%s: %s, %d closed, not %s", each.name, said, f.closed, each.wanted)
		}
	}
}

func shown(answer *Reply) string {
	switch {
	case answer.Error != nil:
		return "500 " + answer.Error.Code + " " + answer.Error.Executed
	case answer.Code == 200:
		return "200"
	}
	return "0"
}

func TestABadConnectionWasNotUsed(t *testing.T) {
	f, executor := faked(t, "postgres", nil)
	session := executor.Session()
	defer session.Close()
	if _, err := session.Run(context.Background(), step("", "A")); err != nil {
		t.Fatal(err)
	}
	f.says = map[string]error{"A": driver.ErrBadConn}
	answer, err := session.Run(context.Background(), step("", "A"))
	if err != nil || shown(answer) != "500 08003 no" || f.closed != 1 {
		t.Errorf("%s, %v, %d closed", shown(answer), err, f.closed)
	}
	f.says = nil
	if answer, _ := session.Run(context.Background(), step("", "A")); answer.Code != 200 {
		t.Errorf("the next one: %s", shown(answer))
	}
}

func TestStandby(t *testing.T) {
	for engine, place := range map[string]string{
		"postgres": "pg_is_in_recovery", "mariadb": "read_only", "sqlite": "query_only"} {
		f, executor := faked(t, engine, nil)
		f.rows[place] = int64(1)
		session := executor.Session()
		for i := 0; i < 2; i++ {
			answer, err := session.Run(context.Background(), step("begin", "A"))
			if err != nil || shown(answer) != "500 standby no" {
				t.Errorf("%s: %s, %v", engine, shown(answer), err)
			}
		}
		f.rows[place] = int64(0)
		if answer, _ := session.Run(context.Background(), step("", "A")); answer.Code != 200 {
			t.Errorf("%s: the primary is refused: %s", engine, shown(answer))
		}
		session.Close()
	}
}

// Asserts that a new connection is set up once.
func TestAConnectionIsAskedOnce(t *testing.T) {
	f, executor := faked(t, "postgres", nil)
	for i := 0; i < 3; i++ {
		session := executor.Session()
		if _, err := session.Run(context.Background(), step("", "A")); err != nil {
			t.Fatal(err)
		}
		session.Close()
	}
	if f.opened != 1 || len(f.told) != 5 {
		t.Errorf("%d connections were told %q", f.opened, f.told)
	}
}

func TestTheContextEndsAStep(t *testing.T) {
	f, executor := faked(t, "postgres", nil)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	session := executor.Session()
	if _, err := session.Run(ctx, step("begin", "SLOW")); err != context.DeadlineExceeded {
		t.Errorf("the error is %v", err)
	}
	session.Close()
	if f.closed != 1 {
		t.Error("the connection is used again")
	}
}

// Asserts that an open transaction is rolled back, also when the context is done.
func TestCloseRollsBack(t *testing.T) {
	f, executor := faked(t, "sqlite", nil)
	ctx, cancel := context.WithCancel(context.Background())
	session := executor.Session()
	if _, err := session.Run(ctx, step("begin", "A")); err != nil {
		t.Fatal(err)
	}
	cancel()
	session.Close()
	if last := f.told[len(f.told)-1]; last != "ROLLBACK" || f.closed != 0 {
		t.Errorf("the last word is %q", last)
	}
}
