// Frame of docs/tasks/frameworks.md: a shop on Gin, asked as its clients ask.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"time"

	assay "assay.example/bindings/go"
	"assay.example/bindings/go/store"
	"github.com/gin-gonic/gin"
	_ "github.com/mattn/go-sqlite3"
)

// SNIPPET

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func read(name string) (found any) {
	text, err := os.ReadFile(name)
	check(err)
	check(json.Unmarshal(text, &found))
	return found
}

func minted(arguments ...string) string {
	text, err := exec.Command("assay", append([]string{"mint", "--authority", "authority"},
		arguments...)...).Output()
	check(err)
	return strings.TrimSpace(string(text))
}

func coins(kind string, more ...string) string {
	return minted(append([]string{kind, "--environment", "Production", "--type", "consumable",
		"--product", "com.example.app.coins100"}, more...)...)
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	bought := coins("transaction")
	second := coins("transaction", "--transaction-id", "180000900000077")
	refund := coins("notification", "--notification-type", "REFUND", "--refunded")
	bearer := minted("token")
	keys, err := assay.NewKeyset(minted("keyset"))
	check(err)
	config := read("authority/config.json").(map[string]any)
	config["tokens"] = read("authority/tokens.json")
	check(os.RemoveAll("gin.db"))
	ledger, err := store.Open(context.Background(), "sqlite3", "./gin.db", config)
	check(err)
	check(ledger.CreateSchema(context.Background()))
	db, err := sql.Open("sqlite3", "gin.db")
	check(err)
	// A customer without a row, who buys twice.
	_, err = db.Exec("CREATE TABLE wallet (account TEXT PRIMARY KEY, coins INTEGER NOT NULL)")
	check(err)
	routes := (&shop{ledger, keys}).routes()
	post := func(path, member, text, bearer string, status int, said string) {
		body, err := json.Marshal(map[string]string{member: text})
		check(err)
		request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(string(body)))
		if bearer != "" {
			request.Header.Set("Authorization", "Bearer "+bearer)
		}
		w := httptest.NewRecorder()
		routes.ServeHTTP(w, request)
		if w.Code != status || w.Body.String() != said {
			log.Fatal(path, member, w.Code, w.Body.String())
		}
	}
	const refused = `{"error":"refused"}`
	post("/v1/purchases", "jws", bought, "", 401, refused)
	post("/v1/purchases", "jws", bought[:len(bought)-8]+"AAAAAAAA", bearer, 400, refused)
	post("/v1/purchases", "receipt", bought, bearer, 400, refused)
	post("/v1/purchases", "jws", strings.Repeat("a", 70000), bearer, 400, refused)
	post("/v1/purchases", "jws", bought, bearer, 200, `{"answer":"granted"}`)
	post("/v1/purchases", "jws", bought, bearer, 200, `{"answer":"already-granted"}`)
	post("/v1/purchases", "jws", second, bearer, 200, `{"answer":"granted"}`)
	post("/v1/notifications", "signedPayload", bought, "", 400, refused)
	post("/v1/notifications", "signedPayload", refund, "", 200, "")
	post("/v1/notifications", "signedPayload", refund, "", 200, "")
	post("/v1/purchases", "jws", bought, bearer, 409, `{"answer":"refused-final"}`)
	var coins int
	check(db.QueryRow("SELECT coins FROM wallet").Scan(&coins))
	if coins != 100 {
		log.Fatal(fmt.Sprint(coins))
	}
	inEveryOrder(routes, db, bearer)
}

// An event is what a client or Apple posts, signed so many minutes after the purchase.
type event struct {
	path, member string
	minutes      int
	text         string
}

// inEveryOrder: STO-33 … 35: bought, refunded, the refund reversed, and each of them again, in
// every order, with texts of the app's queue between them. The newest state stands; the wallet
// is what is out.
func inEveryOrder(routes *gin.Engine, db *sql.DB, bearer string) {
	hour := time.Now().Add(-time.Hour).UnixMilli()
	signed := func(minutes int, more ...string) string {
		return coins("transaction", append(more, "--set", "quantity=5",
			"--purchased", fmt.Sprint(hour),
			"--signed", fmt.Sprint(hour+int64(minutes)*60000))...)
	}
	noted := func(name string, minutes int, text string) event {
		return event{"/v1/notifications", "signedPayload", minutes, coins("notification",
			"--notification-type", name, "--set", `data.signedTransactionInfo="`+text+`"`)}
	}
	purchase := event{"/v1/purchases", "jws", 10, signed(10)}
	reversed := noted("REFUND_REVERSED", 30, signed(30))
	refunded := make([]event, 2)
	for i, share := range []string{"100000", "40000"} {
		refunded[i] = noted("REFUND", 20,
			signed(20, "--refunded", "--set", "revocationPercentage="+share))
	}
	ask := func(sent event) {
		body, err := json.Marshal(map[string]string{sent.member: sent.text})
		check(err)
		request := httptest.NewRequest(http.MethodPost, sent.path, bytes.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+bearer)
		w := httptest.NewRecorder()
		routes.ServeHTTP(w, request)
		if w.Code != 200 && (sent.member != "jws" || w.Code != 409) {
			log.Fatal(sent.path, w.Code, w.Body.String())
		}
	}
	is := func(states, order string) {
		var state string
		var out, has int
		check(db.QueryRow("SELECT state, out_n, COALESCE((SELECT coins FROM wallet), 0)"+
			" FROM assay_ledger").Scan(&state, &out, &has))
		if has != 100*out || !strings.Contains(states, state) || state == "granted" && out != 5 {
			log.Fatal(order, ": ", state, out, " out, coins ", has)
		}
	}
	all := orders("ccrrvv")
	if len(all) != 90 {
		log.Fatal(all)
	}
	for number, order := range all {
		for _, table := range []string{"assay_ledger", "assay_name", "wallet"} {
			_, err := db.Exec("DELETE FROM " + table)
			check(err)
		}
		events := map[rune]event{'c': purchase, 'r': refunded[number%2], 'v': reversed}
		newest := 0
		for place, letter := range order {
			for _, sent := range []event{events[letter], purchase}[:1+place%2] {
				ask(sent)
				if sent.minutes > newest {
					newest = sent.minutes
				}
				states := "granted claimed"
				if newest == 20 {
					states = "revoked"
				}
				is(states, order)
			}
		}
		for _, letter := range "crvrc" {
			ask(events[letter])
			is("granted", order)
		}
	}
}

// orders: each order of these letters, once.
func orders(letters string) []string {
	if letters == "" {
		return []string{""}
	}
	var found []string
	for place, first := range letters {
		if strings.ContainsRune(letters[:place], first) {
			continue
		}
		for _, rest := range orders(letters[:place] + letters[place+1:]) {
			found = append(found, string(first)+rest)
		}
	}
	return found
}
