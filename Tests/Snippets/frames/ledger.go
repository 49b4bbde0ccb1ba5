// Frame of a purchase that is paid out once, over a driver that Debian has.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"assay.example/bindings/go/ledger"
	_ "github.com/mattn/go-sqlite3"
)

const account = "1b4e28ba-2fa1-11d2-883f-b9a761bde3fb"

func claim(ctx context.Context, w http.ResponseWriter, config, jws string) error {
	// SNIPPET
	return nil
}

func main() {
	jws := minted("transaction", "--type", "consumable", "--product", "com.example.app.coins100")
	db, err := sql.Open("sqlite3", "shop.db")
	check(err)
	// A customer without a row yet.
	_, err = db.Exec("CREATE TABLE wallet (account TEXT PRIMARY KEY, coins INTEGER NOT NULL)")
	check(err)
	w := httptest.NewRecorder()
	check(claim(context.Background(), w, authority(), jws))
	var coins int
	check(db.QueryRow("SELECT coins FROM wallet").Scan(&coins))
	if said := w.Body.String(); coins != 100 || said != `{"answer":"granted"}` {
		log.Fatal(fmt.Sprint(coins, said))
	}
}
