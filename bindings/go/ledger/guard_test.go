package ledger

import (
	"errors"
	"os"
	"strings"
	"testing"

	assay "assay.example/bindings/go"
)

// Asserts which statements end a transaction (STO-38).
func TestTextsThatEndATransaction(t *testing.T) {
	for engine, texts := range map[string][]string{
		"sqlite": {"COMMIT", " rollback", ";;/**/ end", "-- x\nBEGIN", "SELECT 'a;'';'; commit",
			"SAVEPOINT assay_grant", "RELEASE assay_grant"},
		"postgres": {"PREPARE TRANSACTION 'a'", "abort", "SELECT 1; END", "START\nTRANSACTION"},
		"mariadb": {"SET SESSION autocommit = 1", "SET @@autocommit=0", "/*!50000 COMMIT */",
			"/*M! COMMIT */", "# x\nCOMMIT AND CHAIN", "XA START 'a'"},
	} {
		for _, text := range texts {
			if !endsTransaction(text, engine) {
				t.Errorf("%s: %s passes", engine, text)
			}
		}
	}
	for engine, texts := range map[string][]string{
		"sqlite": {"INSERT INTO t VALUES ('x; COMMIT')", "ROLLBACK TO own", "RELEASE own",
			`UPDATE t SET k = 'C:\', n = '; END'`, "SELECT CASE 1 WHEN 1 THEN 2 END",
			"CREATE TRIGGER a AFTER INSERT ON t BEGIN DELETE FROM t; END", "SELECT [; END]"},
		"postgres": {"DO $a$ BEGIN COMMIT; END $a$", "SELECT $$; COMMIT; $$", "SELECT $1; SELECT",
			`SELECT E'\'; COMMIT'`, "SET LOCAL search_path TO x", `SELECT 1 AS "a; commit"`},
		"mariadb": {`SELECT 'it\'s; COMMIT'`, "SELECT 1 # ; COMMIT\n, 2", "SET @a = 1",
			"SELECT 'open",
			"SELECT `; COMMIT`", "ROLLBACK WORK TO SAVEPOINT own", "", "/* open"},
	} {
		for _, text := range texts {
			if endsTransaction(text, engine) {
				t.Errorf("%s: %s is refused", engine, text)
			}
		}
	}
}

// Asserts that a refused statement is reported to the grant and to the library (STO-38).
func TestAGuardRefuses(t *testing.T) {
	f, executor := faked(t, "mariadb", nil)
	session := executor.Session()
	defer session.Close()
	refused := func(err error) {
		t.Helper()
		var found *assay.Error
		if !errors.As(err, &found) || found.Name != "misuse.ledger.transaction" {
			t.Errorf("the error is %v", err)
		}
	}
	for i := 0; i < 4; i++ {
		if _, err := session.Run(background, step("begin", "A")); err != nil {
			t.Fatal(err)
		}
		grant := session.EnterGrant(background)
		switch i {
		case 0:
			_, err := grant.Tx.ExecContext(background, "COMMIT")
			refused(err)
		case 1:
			_, err := grant.Tx.QueryContext(background, "BEGIN")
			refused(err)
		case 2:
			err := grant.Tx.QueryRowContext(background, "ROLLBACK").Scan(new(int))
			if err == nil || !strings.Contains(err.Error(), "misuse.ledger.transaction") {
				t.Errorf("the error of a row is %v", err)
			}
		case 3:
			_, err := grant.Tx.PrepareContext(background, "SET autocommit = 1")
			refused(err)
		}
		if answer := session.LeaveGrant(nil); shown(answer) != "500 transaction unknown" {
			t.Errorf("%d: %+v", i, answer)
		}
		if _, err := grant.Tx.ExecContext(background, "LATE"); !errors.Is(err, errOver) {
			t.Errorf("after the grant: %v", err)
		}
		if f.closed != i+1 {
			t.Errorf("%d: %d connections were closed", i, f.closed)
		}
	}
	for _, told := range f.told {
		if strings.Contains(" COMMIT BEGIN LATE ", " "+told+" ") ||
			strings.HasPrefix(told, "SET a") {
			t.Errorf("it was told %q", told)
		}
	}
}

// Asserts the replies after a grant, for each state of its transaction (STO-38, STO-39).
func TestAfterAGrant(t *testing.T) {
	deadlock := &numbered{1213, "deadlock"}
	for _, each := range []struct {
		name   string
		says   error
		thrown error
		wanted string
	}{
		{"the same", nil, nil, "nil"},
		{"the same, and an error", nil, errors.New("no"), "nil"},
		{"another one", &numbered{1305, "no savepoint"}, nil, "500 transaction unknown"},
		{"a deadlock", &numbered{1305, "no savepoint"}, deadlock, "nil"},
		{"a lost session", &numbered{2013, "lost"}, nil, "0"},
	} {
		f, executor := faked(t, "mariadb", nil)
		session := executor.Session()
		if _, err := session.Run(background, step("begin", "A")); err != nil {
			t.Fatal(err)
		}
		session.EnterGrant(background)
		f.says = map[string]error{"RELEASE SAVEPOINT assay_grant": each.says}
		said := "nil"
		if answer := session.LeaveGrant(each.thrown); answer != nil {
			said = shown(answer)
		}
		if said != each.wanted {
			t.Errorf("%s: %s, not %s", each.name, said, each.wanted)
		}
		session.Close()
	}
}

// Asserts how addresses of SQLite are parsed (STO-78).
func TestFilesOfAddresses(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for address, wanted := range map[string]string{
		"/srv/a b.db":                     "file:/srv/a%20b.db?mode=rw",
		"./a.db?_txlock=immediate":        "file:" + here + "/a.db?_txlock=immediate&mode=rw",
		"file:/srv/a.db?mode=rwc":         "file:/srv/a.db?mode=rw",
		"file:///srv/a%3f.db":             "file:/srv/a%3F.db?mode=rw",
		"file:/srv/a.db?mode=ro":          "file:/srv/a.db?mode=ro",
		":memory:":                        ":memory:",
		"file:a?mode=memory&cache=shared": "file:a?mode=memory&cache=shared",
	} {
		found, err := fileOf(address)
		if err != nil || found.opened != wanted {
			t.Errorf("%s: %+v, %v", address, found, err)
		}
	}
	for _, address := range []string{"shop.db", "../shop.db", "file:shop.db", "sub/shop.db", ""} {
		if _, err := fileOf(address); !errors.Is(err, assay.ErrArgument) {
			t.Errorf("%q: %v", address, err)
		}
	}
}
