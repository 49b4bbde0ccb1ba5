// Command ask asks Apple what a migration left open: ask.py in Go, with the same files.
//
//	go run . migrate-look config.json /var/lib/shop/ledger.db
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	assay "assay.example/bindings/go"
	"assay.example/bindings/go/ledger"
	_ "github.com/mattn/go-sqlite3"
)

func run(ctx context.Context, folder, config, database string) (int, error) {
	text, err := os.ReadFile(config)
	if err != nil {
		return 0, err
	}
	shop, err := ledger.Open(ctx, "sqlite3", database, string(text))
	if err != nil {
		return 0, err
	}
	return ask(ctx, folder, shop, (&assay.Sender{MaxWait: time.Hour}).Send, 64)
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "ask FOLDER CONFIG DATABASE")
		os.Exit(2)
	}
	asked, err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v\nthe same command goes on from here\n", err)
		os.Exit(1)
	}
	fmt.Println("asked", asked)
}
