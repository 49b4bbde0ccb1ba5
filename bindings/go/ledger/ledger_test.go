//go:build assay_drivers

package ledger

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	assay "assay.example/bindings/go"

	_ "github.com/mattn/go-sqlite3"
)

// Tests of a shop's ledger, from what the app sent to the row in its wallet. The evidence is
// signed by a test authority with `assay mint`; the environment variable ASSAY_CLI names the
// program.

var ctx = context.Background()

var (
	authority string
	ids       = 2_000_000_000_000_000
)

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "assay-minted-")
	if err != nil {
		panic(err)
	}
	authority = folder
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mint(t testing.TB, kind string, arguments ...string) string {
	t.Helper()
	program := os.Getenv("ASSAY_CLI")
	if program == "" {
		t.Fatal("ASSAY_CLI is not set: run `make check-go`")
	}
	all := append([]string{"mint", kind, "--authority", authority}, arguments...)
	text, err := exec.Command(program, all...).Output()
	must(t, err)
	return strings.TrimSpace(string(text))
}

// coins returns the JWS of a new purchase.
func coins(t testing.TB, arguments ...string) string {
	t.Helper()
	ids++
	id := fmt.Sprint(ids)
	return mint(t, "transaction", append([]string{"--type", "consumable", "--product",
		"com.example.app.coins100", "--transaction-id", id, "--original-transaction-id", id},
		arguments...)...)
}

// A shop is a ledger with a fixed clock, and a wallet.
type shop struct {
	*Ledger
	wallet
	db  *sql.DB
	now time.Time
}

func configuration(t testing.TB, more map[string]any) map[string]any {
	t.Helper()
	path := filepath.Join(authority, "config.json")
	if _, err := os.Stat(path); err != nil {
		mint(t, "transaction")
	}
	text, err := os.ReadFile(path)
	must(t, err)
	found := map[string]any{}
	must(t, json.Unmarshal(text, &found))
	for name, value := range more {
		found[name] = value
	}
	return found
}

func open(t testing.TB, more map[string]any) *shop {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	db, err := sql.Open("sqlite3", path+"?_busy_timeout=5000")
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return opened(t, db, "sqlite3", path, more)
}

func opened(t testing.TB, db *sql.DB, driverName, address string, more map[string]any) *shop {
	t.Helper()
	_, err := db.Exec("CREATE TABLE wallet (grant_id VARCHAR(64) NOT NULL PRIMARY KEY," +
		" account VARCHAR(255) NOT NULL, coins BIGINT NOT NULL)")
	must(t, err)
	ledger, err := Open(ctx, driverName, address, configuration(t, more))
	must(t, err)
	must(t, ledger.CreateSchema(ctx))
	return over(t, ledger, db, &tableWallet{db, ledger.executor.EngineName()})
}

func over(t testing.TB, ledger *Ledger, db *sql.DB, wallet wallet) *shop {
	t.Cleanup(func() { ledger.Close() })
	made := &shop{Ledger: ledger, wallet: wallet, db: db, now: time.Now()}
	ledger.Clock = func() time.Time { return made.now }
	return made
}

// A wallet is where a shop's grants are stored.
type wallet interface {
	// pay grants in the transaction of the claim.
	pay(ctx context.Context, grant *Grant) error
	// payLater grants in a transaction of its own.
	payLater(ctx context.Context, grant *Grant) error
	// back takes back in the transaction of the refund, backLater in its own.
	back(ctx context.Context, take *Take) error
	backLater(ctx context.Context, take *Take) error
	// sums returns the coins by account.
	sums() (map[string]int64, error)
}

type tableWallet struct {
	db     *sql.DB
	engine string
}

func (w *tableWallet) insert() string {
	if w.engine == "postgres" {
		return "INSERT INTO wallet VALUES ($1,$2,$3)"
	}
	return "INSERT INTO wallet VALUES (?,?,?)"
}

func (w *tableWallet) pay(ctx context.Context, grant *Grant) error {
	_, err := grant.Tx.ExecContext(ctx, w.insert(), grant.ID, grant.Account, 100*grant.Quantity)
	return err
}

func (w *tableWallet) payLater(ctx context.Context, grant *Grant) error {
	_, err := w.db.ExecContext(ctx, w.insert(), grant.ID, grant.Account, 100*grant.Quantity)
	return err
}

func (w *tableWallet) back(ctx context.Context, take *Take) error {
	_, err := take.Tx.ExecContext(ctx, w.insert(), short(take), take.Account, -100*take.Units)
	return err
}

func (w *tableWallet) backLater(ctx context.Context, take *Take) error {
	_, err := w.db.ExecContext(ctx, w.insert(), short(take), take.Account, -100*take.Units)
	return err
}

// short returns the end of a take's id, which fits into a column of 64 characters.
func short(take *Take) string { return take.ID[len(take.ID)-60:] }

func (w *tableWallet) sums() (map[string]int64, error) {
	rows, err := w.db.Query("SELECT account, SUM(coins) FROM wallet GROUP BY account")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[string]int64{}
	for rows.Next() {
		var account string
		var sum int64
		if err := rows.Scan(&account, &sum); err != nil {
			return nil, err
		}
		found[account] = sum
	}
	return found, rows.Err()
}

func (s *shop) has(t testing.TB, wanted map[string]int64) {
	t.Helper()
	found, err := s.sums()
	must(t, err)
	if fmt.Sprint(found) != fmt.Sprint(wanted) {
		t.Errorf("the wallet has %v, not %v", found, wanted)
	}
}

func (s *shop) claims(t testing.TB, jws, account, answer string, http int) *ClaimResult {
	t.Helper()
	claimed, err := s.Claim(ctx, ClaimRequest{JWS: jws, Account: account, Grant: s.pay})
	must(t, err)
	if claimed.ClientResult != answer || claimed.HTTPStatus != http {
		t.Errorf("%s: %q, %d (%s), not %q, %d", account, claimed.ClientResult, claimed.HTTPStatus,
			claimed.Status, answer, http)
	}
	return claimed
}

// isRefused returns err as an *assay.Error, which must have that name.
func isRefused(t testing.TB, err error, name string) *assay.Error {
	t.Helper()
	var found *assay.Error
	if !errors.As(err, &found) || found.Name != name {
		t.Errorf("the error is %v, not %s", err, name)
		return new(assay.Error)
	}
	return found
}

// A part is a test of the ledger, and additional members of its configuration.
type part struct {
	in   func(*testing.T, *shop)
	more map[string]any
}

// parts are run over SQLite, and by TestEngines over each engine.
var parts = map[string]part{
	"once": {onceIn, nil}, "undone": {undoneIn, nil}, "lease": {leaseIn, nil},
	"many": {manyIn, nil}, "meters": {metersIn, limits}, "support": {supportIn, nil},
	"refund": {refundIn, nil}, "subscription": {subscriptionIn, nil},
	"accounts": {accountsIn, forgets}, "texts": {textsIn, keeps}, "signup": {signUpIn, admitsOne},
	"challenges": {challengesIn, nil}, "lineage": {lineageIn, nil}, "takes": {takesIn, nil},
	"events": {eventsIn, nil}, "held": {heldIn, nil}, "deferred": {deferredIn, nil},
	"ends": {endsIn, nil},
}

func TestLedger(t *testing.T) {
	for what, tried := range parts {
		t.Run(what, func(t *testing.T) { tried.in(t, open(t, tried.more)) })
	}
}

func onceIn(t *testing.T, shop *shop) {
	jws := coins(t, "--quantity", "2")
	claimed := shop.claims(t, jws, "ann", "granted", 200)
	if !claimed.Changed || claimed.Claims[0].Product != "com.example.app.coins100" ||
		len(claimed.Grants()) != 0 {
		t.Errorf("the claim is %+v", claimed)
	}
	if shop.claims(t, jws, "ann", "already-granted", 200).Changed {
		t.Error("the second one changed something")
	}
	shop.claims(t, jws, "bob", "refused-final", 409)
	shop.has(t, map[string]int64{"ann": 200})
}

func TestAForgedOneReachesNoStore(t *testing.T) {
	shop := open(t, nil)
	jws := coins(t)
	_, err := shop.Claim(ctx, ClaimRequest{JWS: jws[:len(jws)-4] + "AAAA", Account: "ann"})
	if !errors.Is(err, assay.ErrRejected) {
		t.Errorf("the error is %v", err)
	}
}

func undoneIn(t *testing.T, shop *shop) {
	jws := coins(t)
	closed := errors.New("the shop is closed")
	for _, end := range []error{closed, ErrNotGranted} {
		claimed, err := shop.Claim(ctx, ClaimRequest{JWS: jws, Account: "ann",
			Grant: func(ctx context.Context, grant *Grant) error {
				must(t, shop.pay(ctx, grant))
				return end
			}})
		if end == closed && err != closed || end != closed && claimed.ClientResult != "deferred" {
			t.Errorf("%v: %+v, %v", end, claimed, err)
		}
		shop.has(t, nil)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = shop.Claim(ctx, ClaimRequest{JWS: jws, Account: "ann",
			Grant: func(ctx context.Context, grant *Grant) error {
				must(t, shop.pay(ctx, grant))
				panic("in the grant")
			}})
	}()
	shop.has(t, nil)
	shop.claims(t, jws, "bob", "granted", 200)
	shop.has(t, map[string]int64{"bob": 100})
}

// A marker is an executor that records the member transaction of each step.
type marker struct {
	Executor
	marks []string
}

type markedSession struct {
	Session
	of *marker
}

func (m *marker) Session() Session { return &markedSession{m.Executor.Session(), m} }

func (s *markedSession) Run(ctx context.Context, step *Step) (*Reply, error) {
	s.of.marks = append(s.of.marks, step.Transaction)
	return s.Session.Run(ctx, step)
}

// Asserts that a claim on SQLite is one step, of which nothing is stored if a statement fails
// (EXC-24).
func TestAClaimIsOneStep(t *testing.T) {
	shop := open(t, nil)
	marked := &marker{Executor: shop.executor}
	shop.executor = marked
	request := ClaimRequest{JWS: coins(t), Account: "ann", GrantMode: Lease}
	_, err := shop.db.Exec("ALTER TABLE assay_purchase RENAME TO elsewhere")
	must(t, err)
	_, err = shop.Claim(ctx, request)
	var names int
	must(t, shop.db.QueryRow("SELECT COUNT(*) FROM assay_purchase_key").Scan(&names))
	if !errors.Is(err, assay.ErrUnavailable) || names != 0 {
		t.Errorf("%v, %d names", err, names)
	}
	_, err = shop.db.Exec("ALTER TABLE elsewhere RENAME TO assay_purchase")
	must(t, err)
	claimed, err := shop.Claim(ctx, request)
	must(t, err)
	if !claimed.Status.OK() || fmt.Sprint(marked.marks) != "[single single]" {
		t.Errorf("%s: %q", claimed.Status, marked.marks)
	}
}

func leaseIn(t *testing.T, shop *shop) {
	request := ClaimRequest{JWS: coins(t), Account: "ann", GrantMode: Lease, Grant: shop.payLater}
	claimed, err := shop.Claim(ctx, request)
	must(t, err)
	if claimed.ClientResult != "granted" || claimed.Outcome != "granted" || !claimed.Changed {
		t.Errorf("the claim is %+v", claimed)
	}
	shop.has(t, map[string]int64{"ann": 100})

	// The first claim is completed by hand, the second one not before its lease expires.
	first, err := shop.Claim(ctx, ClaimRequest{JWS: coins(t), Account: "ann"})
	must(t, err)
	second, err := shop.Claim(ctx, ClaimRequest{JWS: coins(t), Account: "bob"})
	must(t, err)
	if first.ClientResult != "" || len(first.Grants()) != 1 || first.Grants()[0].FencingToken != 1 {
		t.Fatalf("the claim is %+v", first)
	}
	due, err := shop.ResumeExpired(ctx, 0)
	must(t, err)
	if len(due.Claims) != 0 {
		t.Errorf("due is %+v", due)
	}
	shop.now = shop.now.Add(61 * time.Second)
	resumed, err := shop.Resume(ctx, ResumeRequest{PurchaseKey: second.Claims[0].PurchaseKey,
		Account: "bob", Grant: shop.payLater})
	must(t, err)
	if resumed.ClientResult != "granted" {
		t.Errorf("resumed: %+v", resumed)
	}
	due, err = shop.ResumeExpired(ctx, 0)
	must(t, err)
	if len(due.Grants()) != 1 || due.Grants()[0].ID != first.Grants()[0].ID ||
		due.Grants()[0].FencingToken != 2 || due.HasMore {
		t.Fatalf("due is %+v", due)
	}
	must(t, shop.payLater(ctx, due.Grants()[0]))
	for _, each := range []struct {
		grant   *Grant
		outcome string
		changed bool
	}{{first.Grants()[0], "superseded", false}, {due.Grants()[0], "granted", true}} {
		completed, err := shop.Complete(ctx, each.grant, "")
		must(t, err)
		if completed.Outcome != each.outcome || completed.Changed != each.changed {
			t.Errorf("completed: %+v", completed)
		}
	}
	shop.has(t, map[string]int64{"ann": 200, "bob": 100})
}

func supportIn(t *testing.T, shop *shop) {
	jws := coins(t)
	fact, err := shop.Verifier().VerifyTransaction(ctx, jws)
	must(t, err)
	unused, err := shop.Find(ctx, FindRequest{Evidence: []assay.Evidence{fact}})
	must(t, err)
	if unused.Outcome != "unused" {
		t.Errorf("looked up: %+v", unused)
	}
	shop.claims(t, jws, "ann", "granted", 200)
	for _, request := range []FindRequest{
		{Account: "ann"}, {Evidence: []assay.Evidence{fact}},
		{Environment: fact.Environment, TransactionID: fact.TransactionID, OperatorView: true},
	} {
		found, err := shop.Find(ctx, request)
		must(t, err)
		if len(found.Rows) != 1 || found.Rows[0].State != "granted" ||
			found.Rows[0].TransactionID != fact.TransactionID ||
			(found.Rows[0].OperatorView != nil) != request.OperatorView {
			t.Errorf("looked up: %+v", found)
		}
	}
}

// state returns the JWS of one purchase, signed so long after it was bought.
func (s *shop) state(t testing.TB, id string, after time.Duration, more ...string) string {
	signed := fmt.Sprint(s.now.Add(after - 100*time.Second).UnixMilli())
	return mint(t, "transaction", append([]string{"--transaction-id", id,
		"--original-transaction-id", id, "--type", "consumable",
		"--product", "com.example.app.coins100", "--signed", signed}, more...)...)
}

// Asserts that Take has everything that a host must take back (STO-35).
func refundIn(t *testing.T, shop *shop) {
	bought := shop.state(t, "3000000000000001", 0)
	shop.claims(t, bought, "ann", "granted", 200)
	refund, err := shop.Verifier().VerifyTransaction(ctx,
		shop.state(t, "3000000000000001", time.Second, "--refunded"))
	must(t, err)
	revoked, err := shop.Revoke(ctx, refund)
	must(t, err)
	if len(revoked.Revocations) != 1 || revoked.Revocations[0].Outcome != "was-granted" ||
		revoked.Revocations[0].Account != "ann" || len(revoked.Takes()) != 1 ||
		revoked.Takes()[0].Units != 1 {
		t.Errorf("revoked: %+v", revoked)
	}
	shop.claims(t, bought, "ann", "refused-final", 409)
	revoked, err = shop.Revoke(ctx, refund)
	must(t, err)
	if revoked.Revocations[0].Outcome != "already" || len(revoked.Takes()) != 0 ||
		revoked.Revocations[0].GrantID != "" {
		t.Errorf("again: %+v", revoked)
	}
}

// Asserts that a take-back under a lease is returned until it is completed, and that in a
// transaction both writes are committed or neither (STO-35).
func takesIn(t *testing.T, shop *shop) {
	const id = "3000000000000002"
	shop.claims(t, shop.state(t, id, 0), "ann", "granted", 200)
	refund := RevokeRequest{JWS: shop.state(t, id, time.Second, "--refunded")}
	away := errors.New("the wallet is away")
	refund.TakeBack = func(context.Context, *Take) error { return away }
	if _, err := shop.RevokeWith(ctx, refund); err != away {
		t.Errorf("the error is %v", err)
	}
	due, err := shop.ResumeExpiredRevocations(ctx, 0, nil)
	must(t, err)
	if len(due.Takes) != 0 {
		t.Errorf("due at once: %+v", due)
	}
	shop.now = shop.now.Add(61 * time.Second)
	due, err = shop.ResumeExpiredRevocations(ctx, 0, shop.backLater)
	must(t, err)
	if len(due.Takes) != 1 || due.Takes[0].FencingToken != 3 || !due.Status.OK() {
		t.Fatalf("due: %+v", due)
	}
	shop.has(t, map[string]int64{"ann": 0})
	completed, err := shop.CompleteRevocation(ctx, &due.Takes[0])
	must(t, err)
	if completed.Outcome != "already" || completed.Changed {
		t.Errorf("completed: %+v", completed)
	}
	shop.now = shop.now.Add(61 * time.Second)
	refund.TakeBack = shop.backLater
	_, err = shop.RevokeWith(ctx, refund)
	must(t, err)

	const other = "3000000000000003"
	shop.claims(t, shop.state(t, other, 0), "bob", "granted", 200)
	refund = RevokeRequest{
		JWS: shop.state(t, other, time.Second, "--refunded"), GrantMode: Transaction}
	refund.TakeBack = func(ctx context.Context, take *Take) error {
		must(t, shop.back(ctx, take))
		return away
	}
	if _, err := shop.RevokeWith(ctx, refund); err != away {
		t.Errorf("the error is %v", err)
	}
	shop.has(t, map[string]int64{"ann": 0, "bob": 100})
	refund.TakeBack = shop.back
	for i := 0; i < 2; i++ {
		_, err = shop.RevokeWith(ctx, refund)
		must(t, err)
		shop.has(t, map[string]int64{"ann": 0, "bob": 0})
	}
}

// Asserts that the newest signed state wins, in whatever order notifications arrive (STO-33,
// STO-34).
func eventsIn(t *testing.T, shop *shop) {
	for number, event := range []ApplyEventRequest{
		{Grant: shop.payLater, RevokeRequest: RevokeRequest{TakeBack: shop.backLater}},
		{Grant: shop.pay,
			RevokeRequest: RevokeRequest{TakeBack: shop.back, GrantMode: Transaction}},
	} {
		id, account := fmt.Sprint(3_000_000_000_000_004+number), fmt.Sprint("ann", number)
		shop.claims(t, shop.state(t, id, 0), account, "granted", 200)
		refund := shop.state(t, id, time.Second, "--refunded")
		reversed := shop.state(t, id, 2*time.Second)
		for place, coins := range []int64{0, 0, 100, 100, 100} {
			event.JWS = []string{refund, refund, reversed, refund, reversed}[place]
			applied, err := shop.ApplyEvent(ctx, event)
			must(t, err)
			if !applied.Status.OK() || applied.HTTPStatus != 200 {
				t.Errorf("%d: %+v", place, applied)
			}
			found, err := shop.sums()
			must(t, err)
			if found[account] != coins {
				t.Errorf("%s, %d: %d coins, not %d", account, place, found[account], coins)
			}
		}
	}
}

// Asserts that a grant that cannot be completed is deferred, and completed by the next call
// (STO-20).
func deferredIn(t *testing.T, shop *shop) {
	request := ClaimRequest{JWS: coins(t), Account: "ann", GrantMode: Lease}
	request.Grant = func(ctx context.Context, grant *Grant) error {
		must(t, shop.payLater(ctx, grant))
		_, err := shop.db.Exec("ALTER TABLE assay_purchase RENAME TO away")
		return err
	}
	claimed, err := shop.Claim(ctx, request)
	must(t, err)
	if claimed.ClientResult != "deferred" || claimed.Outcome != "resume" ||
		claimed.HTTPStatus != 503 || claimed.Claims[0].ClientResult != "deferred" ||
		len(claimed.Grants()) != 0 {
		t.Errorf("the claim is %+v", claimed)
	}
	_, err = shop.db.Exec("ALTER TABLE away RENAME TO assay_purchase")
	must(t, err)
	shop.now = shop.now.Add(61 * time.Second)
	request.Grant = func(_ context.Context, grant *Grant) error {
		if !grant.Repeat {
			t.Error("it is not said to be a repetition")
		}
		return nil
	}
	claimed, err = shop.Claim(ctx, request)
	must(t, err)
	if claimed.ClientResult != "granted" {
		t.Errorf("the next claim is %+v", claimed)
	}
	shop.has(t, map[string]int64{"ann": 100})
}

// Asserts that no transaction grants a purchase that was handed out under a lease (STO-37).
func heldIn(t *testing.T, shop *shop) {
	jws := coins(t)
	first, err := shop.Claim(ctx, ClaimRequest{JWS: jws, Account: "ann"})
	must(t, err)
	if grant := first.Grants()[0]; grant.Repeat || grant.Units != 1 {
		t.Errorf("the grant is %+v", grant)
	}
	must(t, shop.payLater(ctx, first.Grants()[0]))
	shop.now = shop.now.Add(61 * time.Second)
	held := shop.claims(t, jws, "ann", "deferred", 202)
	if held.Outcome != "held" || held.Claims[0].Reason != "lease" {
		t.Errorf("held: %+v", held)
	}
	again, err := shop.Claim(ctx, ClaimRequest{JWS: jws, Account: "ann",
		Options: map[string]any{"allowRepeat": true},
		Grant: func(_ context.Context, grant *Grant) error {
			if !grant.Repeat {
				t.Error("it is not said to be a repetition")
			}
			return nil
		}})
	must(t, err)
	if again.ClientResult != "granted" {
		t.Errorf("again: %+v", again)
	}
	shop.has(t, map[string]int64{"ann": 100})
}

// Asserts that a grant that ends the transaction is refused, and the claim rolled back
// (STO-38).
func endsIn(t *testing.T, shop *shop) {
	jws := coins(t)
	claimed, err := shop.Claim(ctx, ClaimRequest{JWS: jws, Account: "ann",
		Grant: func(ctx context.Context, grant *Grant) error {
			must(t, shop.pay(ctx, grant))
			_, _ = grant.Tx.ExecContext(ctx, "COMMIT")
			return nil
		}})
	isRefused(t, err, "misuse.ledger.transaction")
	if claimed == nil || claimed.ClientResult == "granted" {
		t.Errorf("the claim is %+v", claimed)
	}
	shop.has(t, map[string]int64{})
	shop.claims(t, jws, "ann", "granted", 200)
	shop.has(t, map[string]int64{"ann": 100})
}

func subscriptionIn(t *testing.T, shop *shop) {
	plan := func(wanted string) *GetPlanResult {
		t.Helper()
		found, err := shop.GetPlan(ctx, "ann")
		must(t, err)
		if found.Plan != wanted {
			t.Errorf("the plan is %q, not %q", found.Plan, wanted)
		}
		return found
	}
	plan("free")
	request := UpdateSubscriptionsRequest{JWS: mint(t, "transaction"), Account: "ann"}
	applied, err := shop.UpdateSubscriptions(ctx, request)
	must(t, err)
	if applied.Plan == "free" || !applied.Changed || applied.Subscriptions[0].Outcome != "applied" {
		t.Errorf("applied: %+v", applied)
	}
	until := plan(applied.Plan).ExpiresAt
	if !until.After(shop.now) {
		t.Errorf("until %v", until)
	}
	request.Account = "bob"
	_, err = shop.UpdateSubscriptions(ctx, request)
	isRefused(t, err, "rejected.subscription.other-account")
	cleared, err := shop.DeactivateSubscriptions(ctx, "ann")
	must(t, err)
	if cleared.Deactivated != 1 {
		t.Errorf("cleared: %+v", cleared)
	}
	plan("free")
	request.Account = "ann"
	_, err = shop.UpdateSubscriptions(ctx, request)
	must(t, err)
	plan(applied.Plan)
	shop.now = until.Add(24 * time.Hour)
	plan("free")
	for wanted := 1; wanted >= 0; wanted-- {
		due, err := shop.LeaseDueSubscriptions(ctx)
		must(t, err)
		if len(due.Subscriptions) != wanted {
			t.Errorf("due: %+v", due)
		}
	}
}

var forgets = map[string]any{"ledger": map[string]any{
	"forgetKey": strings.Repeat("AAAA", 11)[:43] + "="}}

func accountsIn(t *testing.T, shop *shop) {
	shop.claims(t, coins(t), "anonymous", "granted", 200)
	_, err := shop.UpdateSubscriptions(ctx, UpdateSubscriptionsRequest{
		JWS: mint(t, "transaction"), Account: "anonymous"})
	must(t, err)
	for _, wanted := range []string{"merged", "already"} {
		joined, err := shop.MergeAccounts(ctx, "anonymous", "ann", "signed in")
		must(t, err)
		if joined.Outcome != wanted || wanted == "merged" &&
			(joined.Moved.Subscriptions != 1 || joined.Moved.Purchases != 1) {
			t.Errorf("joined: %+v", joined)
		}
	}
	_, err = shop.MergeAccounts(ctx, "ann", "anonymous", "")
	isRefused(t, err, "rejected.account.merged")
	for _, wanted := range []string{"forgotten", "already"} {
		forgotten, err := shop.ForgetAccount(ctx, "ann", "")
		must(t, err)
		if forgotten.Outcome != wanted {
			t.Errorf("forgotten: %+v", forgotten)
		}
	}
}

var keeps = map[string]any{"ledger": map[string]any{"keepEvidence": true}}

func textsIn(t *testing.T, shop *shop) {
	jws := coins(t)
	key := shop.claims(t, jws, "ann", "granted", 200).Claims[0].PurchaseKey
	kept, err := shop.GetEvidence(ctx, GetEvidenceRequest{PurchaseKey: key})
	must(t, err)
	if len(kept.Evidence) != 1 || kept.Evidence[0].Text != jws || len(kept.Missing) != 0 {
		t.Errorf("kept: %+v", kept)
	}
}

var limits = map[string]any{"quotas": map[string]any{
	"free": map[string]any{"free": 99}, "premium": map[string]any{"free": 99, "premium": 2}}}

func metersIn(t *testing.T, shop *shop) {
	first, err := shop.ConsumeQuota(ctx, "ann", "premium", "premium", 1)
	must(t, err)
	if first.Used != 1 || first.Limit != 2 || first.Left != 1 || len(first.Headers) == 0 {
		t.Errorf("taken: %+v", first)
	}
	_, err = shop.ConsumeQuota(ctx, "ann", "premium", "premium", 1)
	must(t, err)
	full, err := shop.ConsumeQuota(ctx, "ann", "premium", "premium", 1)
	if first.Outcome != "consumed" || full.Outcome != "exhausted" {
		t.Errorf("outcomes: %s, %s", first.Outcome, full.Outcome)
	}
	if isRefused(t, err, "rejected.quota.exhausted").HTTPStatus != 429 || full.HTTPStatus != 429 ||
		full.Headers["Retry-After"] == "" || full.Fallback != "free" {
		t.Errorf("refused: %+v", full)
	}
	for _, outcome := range []string{"released", "released", "none"} {
		back, err := shop.ReleaseQuota(ctx, first.Ticket)
		must(t, err)
		if back.Outcome != outcome {
			t.Errorf("given back: %+v, not %s", back, outcome)
		}
	}
	_, err = shop.ConsumeQuota(ctx, "ann", "premium", "premium", 1)
	must(t, err)
	next, err := shop.ConsumeQuota(ctx, "ann", "premium", "premium", 1)
	if err != nil || next.Used != 2 {
		t.Errorf("after the refund: %+v, %v", next, err)
	}
}

var admitsOne = map[string]any{"ledger": map[string]any{"signup": map[string]any{"limit": 1}}}

func signUpIn(t *testing.T, shop *shop) {
	const name, password = "u_0123456789abcdef", "Rpabcdefghijklmnopqrst1!"
	for _, result := range []string{"exists", "created"} {
		admission, err := shop.BeginSignup(ctx, "192.0.2.1", name, password)
		must(t, err)
		_, err = shop.FinishSignup(ctx, admission.Ticket, result)
		if result == "created" {
			must(t, err)
		}
	}
	_, err := shop.BeginSignup(ctx, "192.0.2.1", name, password)
	isRefused(t, err, "rejected.signup.exhausted")
}

func challengesIn(t *testing.T, shop *shop) {
	challenge, err := shop.IssueChallenge(ctx, "login", "ann")
	must(t, err)
	if len(challenge.Text) != 43 || !challenge.ExpiresAt.After(shop.now) {
		t.Errorf("the challenge is %+v", challenge)
	}
	request := ConsumeChallengeRequest{
		Purpose: "login", Subject: "ann", Challenge: challenge.Text, UsedBy: "x"}
	_, err = shop.ConsumeChallenge(ctx, request)
	must(t, err)
	_, err = shop.ConsumeChallenge(ctx, request)
	must(t, err)
	request.UsedBy = "y"
	_, err = shop.ConsumeChallenge(ctx, request)
	isRefused(t, err, "rejected.challenge.used")

	attempt := strings.Repeat("a", 22)
	for _, each := range []struct {
		id, attempt string
		wanted      bool
	}{{"NOTE#1", attempt, true}, {"NOTE#1", attempt, true}, {"NOTE#1", "", false},
		{"NOTE#2", "", true}} {
		recorded, err := shop.RecordEvent(ctx, each.id, each.attempt)
		if err != nil || recorded.Status.OK() != each.wanted {
			t.Errorf("%+v: %+v, %v", each, recorded, err)
		}
	}
}

func TestAKeyIsBoundOnce(t *testing.T) {
	object, err := base64.StdEncoding.DecodeString(
		mint(t, "attestation", "--team", "ABCDE12345", "--client-data", "hello"))
	must(t, err)
	var device struct {
		KeyID string `json:"keyId"`
	}
	text, err := os.ReadFile(filepath.Join(authority, "device.json"))
	must(t, err)
	must(t, json.Unmarshal(text, &device))
	more := configuration(t, nil)
	more["apps"].([]any)[0].(map[string]any)["teamId"] = "ABCDE12345"
	shop := open(t, more)
	attestation, err := shop.Verifier().VerifyAttestation(
		ctx, object, device.KeyID, assay.ClientDataBytes([]byte("hello")), assay.At(shop.now))
	must(t, err)
	for _, outcome := range []string{"registered", "already"} {
		bound, err := shop.RegisterDeviceKey(ctx, attestation, "ann")
		must(t, err)
		if bound.Outcome != outcome || bound.KeyID != device.KeyID ||
			bound.Changed != (outcome == "registered") {
			t.Errorf("%s: %+v", outcome, bound)
		}
	}
	_, err = shop.RegisterDeviceKey(ctx, attestation, "bob")
	isRefused(t, err, "rejected.device-key.other-account")
}

func TestTheStoreIsAway(t *testing.T) {
	shop := open(t, nil)
	_, err := shop.db.Exec("DROP TABLE assay_purchase")
	must(t, err)
	_, err = shop.Claim(ctx, ClaimRequest{JWS: coins(t), Account: "ann", Grant: shop.pay})
	isRefused(t, err, "unavailable.database.statement-failed")
}

func TestTheSchema(t *testing.T) {
	shop := open(t, map[string]any{"ledger": map[string]any{"prefix": "own_"}})
	must(t, shop.CreateSchema(ctx))
	must(t, shop.DeleteExpiredRows(ctx))
	shop.claims(t, coins(t), "ann", "granted", 200)
	driftIn(t, shop)
}

func checkSchema(ledger *Ledger) error {
	_, err := ledger.CheckSchema(ctx)
	return err
}

// driftIn changes a table by hand, which the check of the schema must report.
func driftIn(t *testing.T, shop *shop) {
	t.Helper()
	must(t, checkSchema(shop.Ledger))
	if store, is := shop.executor.(*DynamoDB); is {
		table := []byte(`{"TableName":"` + shop.wallet.(*itemWallet).table + `"}`)
		if _, failure := store.call(ctx, "DeleteTable", table); failure != nil {
			t.Fatal(failure)
		}
		isRefused(t, checkSchema(shop.Ledger), "config.ledger.schema")
		return
	}
	prefix, found, err := shop.verifier.Document().Text("configuration.ledger.prefix")
	if must(t, err); !found {
		prefix = "assay_"
	}
	_, err = shop.db.Exec("ALTER TABLE " + prefix + "subscription RENAME COLUMN owner TO holder")
	must(t, err)
	isRefused(t, checkSchema(shop.Ledger), "unavailable.database.statement-failed")
	// A missing table is not created anew (STO-78).
	_, err = shop.db.Exec("DROP TABLE " + prefix + "subscription")
	must(t, err)
	for _, err := range []error{checkSchema(shop.Ledger), shop.CreateSchema(ctx)} {
		refused := isRefused(t, err, "config.ledger.schema")
		if refused.Place != prefix+"subscription" {
			t.Errorf("the place is %q", refused.Place)
		}
	}
	if _, err := shop.db.Exec("SELECT * FROM " + prefix + "subscription"); err == nil {
		t.Error("the table was made anew")
	}
}

// Asserts that another database under the same name is refused (STO-78).
func lineageIn(t *testing.T, shop *shop) {
	must(t, checkSchema(shop.Ledger))
	_, err := shop.db.Exec("UPDATE assay_schema SET lineage = 'that of another one, of 32 signs.'")
	must(t, err)
	isRefused(t, checkSchema(shop.Ledger), "config.ledger.lineage")
}

// Asserts that opening a ledger does not create a missing file (STO-78).
func TestAMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing.db")
	ledger, err := Open(ctx, "sqlite3", path, configuration(t, nil))
	must(t, err)
	defer ledger.Close()
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	_, err = ledger.RecordEvent(ctx, "NOTE#1", "")
	refused := isRefused(t, err, "unavailable.database.statement-failed")
	if strings.Contains(string(refused.Document.Raw()), "missing.db") {
		t.Error("the document has the path")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it was made")
	}
	must(t, ledger.CreateSchema(ctx))
	must(t, checkSchema(ledger))
}

func manyIn(t *testing.T, shop *shop) {
	jws := coins(t)
	answers := make([]string, 8)
	var group sync.WaitGroup
	for i := range answers {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			claimed, err := shop.Claim(ctx, ClaimRequest{JWS: jws, Account: "ann", Grant: shop.pay})
			if err != nil {
				answers[i] = err.Error()
				return
			}
			answers[i] = claimed.ClientResult
		}(i)
	}
	group.Wait()
	granted := 0
	for _, answer := range answers {
		switch answer {
		case "granted":
			granted++
		case "already-granted", "deferred":
		default:
			t.Errorf("an answer is %q", answer)
		}
	}
	if granted != 1 {
		t.Errorf("the answers are %q", answers)
	}
	shop.has(t, map[string]int64{"ann": 100})
}
