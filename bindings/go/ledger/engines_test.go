//go:build assay_drivers

package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/lib/pq"
)

// The tests of ledger_test.go over the engines in the environment: ASSAY_STORE_POSTGRES has
// the address of a PostgreSQL server (Tests/Stores/with_engines.py). Each test has its own
// database.

func engine(t *testing.T, name string) *url.URL {
	t.Helper()
	variable := "ASSAY_STORE_" + strings.ToUpper(name)
	given := os.Getenv(variable)
	if given == "" {
		why := os.Getenv(variable + "_MISSING")
		if why == "" {
			why = variable + " is not set"
		}
		t.Skip(name + ": " + why)
	}
	found, err := url.Parse(given)
	must(t, err)
	return found
}

// own creates a database, and a shop in it.
func own(
	t *testing.T, driverName string, address func(string) string, more map[string]any,
) *shop {
	t.Helper()
	ids++
	database := fmt.Sprintf("shop%d_%d", os.Getpid(), ids)
	server, err := sql.Open(driverName, address(""))
	must(t, err)
	defer server.Close()
	_, err = server.Exec("CREATE DATABASE " + database)
	must(t, err)
	db, err := sql.Open(driverName, address(database))
	must(t, err)
	t.Cleanup(func() { db.Close() })
	shop := opened(t, db, driverName, address(database), more)
	must(t, shop.CreateSchema(ctx))
	return shop
}

func postgres(t *testing.T, more map[string]any) *shop {
	found := engine(t, "postgres")
	return own(t, "postgres", func(database string) string {
		if database == "" {
			database = "postgres"
		}
		return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", found.User, found.Host, database)
	}, more)
}

func mariadb(t *testing.T, more map[string]any) *shop {
	found := engine(t, "mariadb")
	return own(t, "mysql", func(database string) string {
		return fmt.Sprintf("%s@tcp(%s)/%s?charset=utf8mb4", found.User, found.Host, database)
	}, more)
}

// dynamodb creates a table, which also stores the grants, and a shop in it.
func dynamodb(t *testing.T, more map[string]any) *shop {
	found := engine(t, "dynamodb")
	ids++
	table := fmt.Sprintf("shop%d_%d", os.Getpid(), ids)
	block := map[string]any{"table": table}
	if given, is := more["ledger"].(map[string]any); is {
		for name, value := range given {
			block[name] = value
		}
	}
	config := configuration(t, more)
	config["ledger"] = block
	store := &DynamoDB{Endpoint: found.Query().Get("endpoint"), Sign: func(
		_ context.Context, request *http.Request, _ string,
	) error {
		request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=testing/20350101/"+
			found.Query().Get("region")+"/dynamodb/aws4_request")
		return nil
	}}
	ledger, err := WithExecutor(store, config)
	must(t, err)
	shop := over(t, ledger, nil, &itemWallet{store, table})
	must(t, shop.CreateSchema(ctx))
	must(t, shop.CreateSchema(ctx))
	return shop
}

type itemWallet struct {
	*DynamoDB
	table string
}

func (w *itemWallet) put(id, account string, coins int64) json.RawMessage {
	text := func(value string) any { return map[string]any{"S": value} }
	item, _ := json.Marshal(map[string]any{"TableName": w.table, "Item": map[string]any{
		"PK": text("COINS#" + id), "SK": text("COINS"), "account": text(account),
		"coins": map[string]any{"N": fmt.Sprint(coins)}},
		"ConditionExpression": "attribute_not_exists(PK)"})
	return item
}

func (w *itemWallet) with(items *[]json.RawMessage, put json.RawMessage) error {
	item, err := json.Marshal(map[string]any{"Put": put})
	*items = append(*items, item)
	return err
}

func (w *itemWallet) pay(_ context.Context, grant *Grant) error {
	return w.with(grant.Items, w.put(grant.ID, grant.Account, 100*grant.Quantity))
}

func (w *itemWallet) payLater(ctx context.Context, grant *Grant) error {
	return w.alone(ctx, w.put(grant.ID, grant.Account, 100*grant.Quantity))
}

func (w *itemWallet) back(_ context.Context, take *Take) error {
	return w.with(take.Items, w.put(take.ID, take.Account, -100*take.Units))
}

func (w *itemWallet) backLater(ctx context.Context, take *Take) error {
	return w.alone(ctx, w.put(take.ID, take.Account, -100*take.Units))
}

func (w *itemWallet) alone(ctx context.Context, put json.RawMessage) error {
	result, failure := w.call(ctx, "PutItem", put)
	if failure != nil || result.Error != nil {
		return fmt.Errorf("not paid: %v, %v", failure, result.Error)
	}
	return nil
}

func (w *itemWallet) sums() (map[string]int64, error) {
	result, failure := w.call(ctx, "Scan", []byte(`{"TableName":"`+w.table+`"}`))
	if failure != nil {
		return nil, fmt.Errorf("no answer: %v", failure)
	}
	var output struct {
		Items []struct {
			SK      struct{ S string }
			Account struct{ S string } `json:"account"`
			Coins   struct{ N string } `json:"coins"`
		}
	}
	if err := json.Unmarshal(result.Output, &output); err != nil {
		return nil, err
	}
	found := map[string]int64{}
	for _, item := range output.Items {
		if item.SK.S == "COINS" {
			coins, err := strconv.ParseInt(item.Coins.N, 10, 64)
			if err != nil {
				return nil, err
			}
			found[item.Account.S] += coins
		}
	}
	return found, nil
}

// ofSQL are the tests of transactions and sessions, which DynamoDB does not have.
const ofSQL = " standby isolation lineage limits session deferred ends guard lost unreached "

func TestEngines(t *testing.T) {
	for name, made := range map[string]func(*testing.T, map[string]any) *shop{
		"postgres": postgres, "mariadb": mariadb, "dynamodb": dynamodb,
	} {
		t.Run(name, func(t *testing.T) {
			engine(t, name)
			all := map[string]part{
				"schema": {driftIn, nil}, "standby": {standbyIn, nil},
				"isolation": {isolationIn, nil}, "limits": {limitsIn, nil},
				"session": {sessionIn, nil}, "guard": {guardIn, nil}, "lost": {lostIn, nil},
				"unreached": {unreachedIn, nil},
			}
			if name == "mariadb" {
				all["autocommit"] = part{autocommitIn, nil}
			}
			for what, tried := range parts {
				all[what] = tried
			}
			for what, tried := range all {
				if name != "dynamodb" || !strings.Contains(ofSQL, " "+what+" ") {
					t.Run(what, func(t *testing.T) { tried.in(t, made(t, tried.more)) })
				}
			}
		})
	}
}

// Asserts that a read-only engine is refused, and accepted when it is writable again.
func standbyIn(t *testing.T, shop *shop) {
	set := func(on bool) {
		text := "SET GLOBAL read_only = " + map[bool]string{true: "ON", false: "OFF"}[on]
		if shop.executor.EngineName() == "postgres" {
			text = "ALTER ROLE CURRENT_USER SET default_transaction_read_only = " + map[bool]string{
				true: "on", false: "off"}[on]
		}
		_, err := shop.db.Exec(text)
		must(t, err)
		shop.executor.(*SQL).DB.SetMaxIdleConns(0)
	}
	set(true)
	jws := coins(t)
	_, err := shop.Claim(ctx, ClaimRequest{JWS: jws, Account: "ann", Grant: shop.pay})
	set(false)
	isRefused(t, err, "unavailable.database.standby")
	shop.claims(t, jws, "ann", "granted", 200)
}

// Asserts that statements outside a transaction run at READ COMMITTED, whatever the role's
// default is (STO-14).
func isolationIn(t *testing.T, shop *shop) {
	db := shop.executor.(*SQL).DB
	db.SetMaxIdleConns(0)
	db.SetMaxIdleConns(1)
	db.SetMaxOpenConns(1)
	before, asked := "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SELECT @@tx_isolation"
	wanted := "READ-COMMITTED"
	if shop.executor.EngineName() == "postgres" {
		before = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE"
		asked, wanted = "SHOW default_transaction_isolation", "read committed"
	}
	_, err := db.Exec(before)
	must(t, err)
	_, err = shop.RecordEvent(ctx, "NOTE#isolation", "")
	must(t, err)
	var found string
	must(t, db.QueryRow(asked).Scan(&found))
	if found != wanted {
		t.Errorf("statements run under %s", found)
	}
}

// carriedOut returns the reply of one step.
func carriedOut(t *testing.T, session Session, open *Step) *Reply {
	t.Helper()
	answer, err := session.Run(ctx, open)
	must(t, err)
	return answer
}

// pools returns one pool of the ledger and one of the host.
func pools(shop *shop) map[string]*SQL {
	return map[string]*SQL{"own": shop.executor.(*SQL),
		"the host": {DB: shop.db, Engine: shop.executor.EngineName()}}
}

// Asserts that what is stored outside a transaction is committed: a pool of the ledger commits
// it whatever the server's default is, and one of the host that does not is refused (STM-5).
func autocommitIn(t *testing.T, shop *shop) {
	_, err := shop.db.Exec("SET GLOBAL autocommit = 0")
	must(t, err)
	defer shop.db.Exec("SET GLOBAL autocommit = 1")
	for name, pool := range pools(shop) {
		pool.DB.SetMaxIdleConns(0) // the next connection is a new one
		session := pool.Session()
		answer, err := session.Run(ctx, step("", "INSERT INTO wallet VALUES ('"+name+"', 'x', 0)"))
		session.Close()
		if !pool.own {
			isRefused(t, err, "misuse.ledger.transaction")
		} else if err != nil || answer.Code != 200 {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
	var found int
	must(t, shop.db.QueryRow("SELECT COUNT(*) FROM wallet").Scan(&found))
	if found != 1 {
		t.Errorf("%d rows", found)
	}
}

// Asserts that a wait for a lock and a statement end at their limits (STO-76).
func limitsIn(t *testing.T, shop *shop) {
	lock, slow, busy, late := "LOCK TABLE wallet", "SELECT pg_sleep(20)", "55P03", "57014"
	if shop.executor.EngineName() == "mariadb" {
		lock = "SELECT * FROM wallet WHERE grant_id = 'x' FOR UPDATE"
		slow = "SELECT SLEEP(20) FROM wallet"
		busy, late = "1205", "1969"
	}
	_, err := shop.db.Exec("INSERT INTO wallet VALUES ('x', 'x', 0)")
	must(t, err)
	for name, pool := range pools(shop) {
		other, err := shop.db.BeginTx(ctx, nil)
		must(t, err)
		_, err = other.Exec(lock)
		must(t, err)
		for what, code := range map[string]string{
			"UPDATE wallet SET coins = 1 WHERE grant_id = 'x'": busy, slow: late} {
			for _, transaction := range []string{"begin", ""} {
				session := pool.Session()
				open := step(transaction, what)
				open.Limits = &Limits{StatementMs: 5000, LockMs: 1000}
				if code == late {
					open.Limits = &Limits{StatementMs: 300, LockMs: 100}
				}
				if said := shown(carriedOut(t, session, open)); said != "500 "+code+" no" {
					t.Errorf("%s, %q: %s is %s", name, transaction, what, said)
				}
				session.Close()
			}
		}
		must(t, other.Rollback())
	}
}

// Asserts that a grant that began another transaction is detected (STO-38).
func guardIn(t *testing.T, shop *shop) {
	for name, pool := range pools(shop) {
		for _, ends := range [][]string{{"COMMIT"}, {"COMMIT", "BEGIN"}, {"ROLLBACK", "BEGIN"}} {
			session := pool.Session().(*sqlSession)
			key := fmt.Sprint(name, len(ends), ends[0])
			key = strings.ReplaceAll(key, "'", "")
			insert := "INSERT INTO wallet VALUES ('" + key + "', 'x', 0)"
			carriedOut(t, session, step("begin", insert))
			session.EnterGrant(ctx)
			for _, text := range ends {
				_, err := session.conn.ExecContext(ctx, text)
				must(t, err)
			}
			answer := session.LeaveGrant(nil)
			if answer == nil || shown(answer) != "500 transaction unknown" {
				t.Errorf("%s: %q is %+v", name, ends, answer)
			}
			if said := shown(carriedOut(t, session, step("begin"))); said != "200" {
				t.Errorf("%s: the next transaction is %s", name, said)
			}
			session.Close()
		}
	}
}

// endSession ends the session of a transaction from another connection.
func (s *shop) endSession(t *testing.T, tx Tx) error {
	asked, end := "SELECT pg_backend_pid()", "SELECT pg_terminate_backend(%d)"
	if s.executor.EngineName() == "mariadb" {
		asked, end = "SELECT CONNECTION_ID()", "KILL %d"
	}
	var id int64
	must(t, tx.QueryRowContext(ctx, asked).Scan(&id))
	_, err := s.db.Exec(fmt.Sprintf(end, id))
	return err
}

// Asserts that a session that ends inside a grant is reported as lost (STO-39).
func lostIn(t *testing.T, shop *shop) {
	session := shop.executor.Session()
	defer session.Close()
	carriedOut(t, session, step("begin"))
	grant := session.EnterGrant(ctx)
	must(t, shop.endSession(t, grant.Tx))
	if answer := session.LeaveGrant(nil); answer == nil || shown(answer) != "0" {
		t.Errorf("the answer is %+v", answer)
	}
	if said := shown(carriedOut(t, session, step("begin"))); said != "200" {
		t.Errorf("the next transaction is %s", said)
	}
}

// Asserts that a claim whose session ends inside the grant is retried, and then deferred
// (STO-39).
func sessionIn(t *testing.T, shop *shop) {
	for times, answer := range map[int]string{1: "granted", 2: "granted", 99: "deferred"} {
		calls := 0
		account := fmt.Sprint("ann", times)
		claimed, err := shop.Claim(ctx, ClaimRequest{JWS: coins(t), Account: account,
			Grant: func(ctx context.Context, grant *Grant) error {
				must(t, shop.pay(ctx, grant))
				if calls++; calls > times {
					return nil
				}
				return shop.endSession(t, grant.Tx)
			}})
		must(t, err)
		wanted := map[bool]int{true: times + 1, false: 3}[times < 3]
		if claimed.ClientResult != answer || calls != wanted {
			t.Errorf("%d times: %+v, %d calls", times, claimed, calls)
		}
		if times == 99 && (claimed.HTTPStatus != 503 ||
			claimed.Status.String() != "unavailable.database.outcome-unknown") {
			t.Errorf("for ever: %+v", claimed)
		}
	}
	shop.has(t, map[string]int64{"ann1": 100, "ann2": 100})
}

// Asserts the code of a server that cannot be reached (STO-77).
func unreachedIn(t *testing.T, shop *shop) {
	engineName := shop.executor.EngineName()
	driverName, found := "postgres", engine(t, map[string]string{
		"postgres": "postgres", "mariadb": "mariadb"}[engineName])
	address := func(user, host, database string) string {
		return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", user, host, database)
	}
	codes := map[string]string{"database": "3D000", "user": "28000"}
	if engineName == "mariadb" {
		driverName = "mysql"
		address = func(user, host, database string) string {
			return fmt.Sprintf("%s@tcp(%s)/%s", user, host, database)
		}
		codes = map[string]string{"database": "1049", "user": "1045"}
	}
	user, database := found.User.String(), strings.TrimPrefix(found.Path, "/")
	for given, code := range map[string]string{
		address(user, "127.0.0.1:1", database):     "connect",
		address(user, "assay.invalid:1", database): "connect",
		address(user, found.Host, "none"):          codes["database"],
		address("nobody", found.Host, database):    codes["user"],
	} {
		db, err := sql.Open(driverName, given)
		must(t, err)
		session := (&SQL{DB: db, Engine: engineName}).Session()
		if said := shown(carriedOut(t, session, step("", "SELECT 1"))); said != "500 "+code+" no" {
			t.Errorf("%s: %s, not %s", given, said, code)
		}
		session.Close()
		db.Close()
	}
}
