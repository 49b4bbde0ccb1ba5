// Frame of docs/tasks/frameworks.md: a shop on Gin, asked as its clients ask.
package main

import (
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
}
