package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
)

// A bench is a shop under a test authority, in a folder of its own, and a customer of it.
type bench struct {
	*testing.T
	routes http.Handler
	db     *sql.DB
	bearer string
}

func newBench(t *testing.T) *bench {
	if os.Getenv("ASSAY_CLI") == "" {
		t.Skip("ASSAY_CLI does not name the command line, which mints")
	}
	gin.SetMode(gin.ReleaseMode)
	before, err := os.Getwd()
	b := &bench{T: t}
	b.check(err)
	b.check(os.Chdir(t.TempDir()))
	t.Cleanup(func() { _ = os.Chdir(before) })
	b.bearer = b.minted("token")
	b.check(os.WriteFile("keys.json", []byte(b.minted("keyset")), 0o600))
	config := b.read("authority/config.json").(map[string]any)
	config["tokens"] = b.read("authority/tokens.json")
	text, err := json.Marshal(config)
	b.check(err)
	b.check(os.WriteFile("config.json", text, 0o600))
	made, err := open(context.Background())
	b.check(err)
	t.Cleanup(func() { _ = made.ledger.Close() })
	b.check(made.setup(context.Background()))
	b.db, err = sql.Open("sqlite3", "shop.db")
	b.check(err)
	t.Cleanup(func() { _ = b.db.Close() })
	b.routes = made.routes()
	return b
}

func (b *bench) check(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) read(name string) (found any) {
	text, err := os.ReadFile(name)
	b.check(err)
	b.check(json.Unmarshal(text, &found))
	return found
}

func (b *bench) minted(arguments ...string) string {
	text, err := exec.Command(os.Getenv("ASSAY_CLI"),
		append([]string{"mint", "--authority", "authority"}, arguments...)...).Output()
	b.check(err)
	return strings.TrimSpace(string(text))
}

func (b *bench) coins(kind string, more ...string) string {
	return b.minted(append([]string{kind, "--environment", "Production", "--type", "consumable",
		"--product", "com.example.app.coins100"}, more...)...)
}

func (b *bench) ask(path, member, text, bearer string) *httptest.ResponseRecorder {
	body, err := json.Marshal(map[string]string{member: text})
	b.check(err)
	request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(body)))
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	w := httptest.NewRecorder()
	b.routes.ServeHTTP(w, request)
	return w
}

func TestRoutes(t *testing.T) {
	b := newBench(t)
	bought := b.coins("transaction")
	// A customer without a row, who buys twice.
	second := b.coins("transaction", "--transaction-id", "180000900000077")
	refund := b.coins("notification", "--notification-type", "REFUND", "--refunded")
	const purchases, notifications = "/v1/purchases", "/v1/notifications"
	const refused = `{"error":"refused"}`
	for number, row := range []struct {
		path, member, text, bearer string
		status                     int
		said                       string
	}{
		{purchases, "jws", bought, "", 401, refused},
		{purchases, "jws", bought[:len(bought)-8] + "AAAAAAAA", b.bearer, 400, refused},
		{purchases, "receipt", bought, b.bearer, 400, refused},
		{purchases, "jws", strings.Repeat("a", 70000), b.bearer, 400, refused},
		{purchases, "jws", bought, b.bearer, 200, `{"answer":"granted"}`},
		{purchases, "jws", bought, b.bearer, 200, `{"answer":"already-granted"}`},
		{purchases, "jws", second, b.bearer, 200, `{"answer":"granted"}`},
		{notifications, "signedPayload", bought, "", 400, refused},
		{notifications, "signedPayload", refund, "", 200, ""},
		{notifications, "signedPayload", refund, "", 200, ""},
		{purchases, "jws", bought, b.bearer, 409, `{"answer":"refused-final"}`},
	} {
		w := b.ask(row.path, row.member, row.text, row.bearer)
		if w.Code != row.status || w.Body.String() != row.said {
			t.Error(number, row.path, row.member, w.Code, w.Body.String())
		}
	}
	var coins int
	b.check(b.db.QueryRow("SELECT coins FROM wallet").Scan(&coins))
	if coins != 100 {
		t.Error(coins, "coins")
	}
}

// STO-33 … 35: the newest state stands, and the wallet is what is out, in whatever order they
// come; examples/shop tries every order.
func TestARefundOfAPartAndItsReversal(t *testing.T) {
	b := newBench(t)
	hour := time.Now().Add(-time.Hour).UnixMilli()
	signed := func(minutes int64, more ...string) string {
		return b.coins("transaction", append(more, "--set", "quantity=5",
			"--purchased", fmt.Sprint(hour), "--signed", fmt.Sprint(hour+minutes*60000))...)
	}
	noted := func(name, text string) string {
		return b.coins("notification",
			"--notification-type", name, "--set", `data.signedTransactionInfo="`+text+`"`)
	}
	refunded := func(share string) string {
		return noted("REFUND", signed(20, "--refunded", "--set", "revocationPercentage="+share))
	}
	texts := map[string]string{"bought": signed(10), "a part": refunded("40000"),
		"all": refunded("100000"), "reversed": noted("REFUND_REVERSED", signed(30))}
	type event struct {
		name  string
		coins int
	}
	for _, order := range [][]event{
		{{"bought", 500}, {"a part", 300}, {"a part", 300}, {"bought", 300}, {"reversed", 500},
			{"a part", 500}, {"reversed", 500}},
		{{"all", 0}, {"bought", 0}, {"reversed", 0}, {"bought", 500}},
		{{"bought", 500}, {"all", 0}, {"bought", 0}, {"reversed", 500}},
		{{"reversed", 0}, {"all", 0}, {"bought", 500}},
	} {
		for _, table := range []string{"assay_purchase", "assay_purchase_key", "wallet"} {
			_, err := b.db.Exec("DELETE FROM " + table)
			b.check(err)
		}
		for _, sent := range order {
			path, member := "/v1/notifications", "signedPayload"
			if sent.name == "bought" {
				path, member = "/v1/purchases", "jws"
			}
			w := b.ask(path, member, texts[sent.name], b.bearer)
			if w.Code != 200 && (member != "jws" || w.Code != 409) {
				t.Fatal(sent.name, w.Code, w.Body.String())
			}
			var has int
			b.check(b.db.QueryRow("SELECT COALESCE(SUM(coins), 0) FROM wallet").Scan(&has))
			if has != sent.coins {
				t.Fatal(order, sent.name, has, "coins")
			}
		}
	}
}
