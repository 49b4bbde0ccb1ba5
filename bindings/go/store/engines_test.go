//go:build assay_drivers

package store

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/lib/pq"
)

// The same over the engines that the environment names: ASSAY_STORE_POSTGRES has the address
// of one (Tests/Stores/with_engines.py). Each test has a database of its own.

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

// own makes a database, and a shop in it.
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

func TestEngines(t *testing.T) {
	limits := map[string]any{"limits": map[string]any{
		"free": map[string]any{"free": 99}, "premium": map[string]any{"free": 99, "premium": 2}}}
	for name, made := range map[string]func(*testing.T, map[string]any) *shop{
		"postgres": postgres, "mariadb": mariadb,
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("once", func(t *testing.T) { onceIn(t, made(t, nil)) })
			t.Run("undone", func(t *testing.T) { undoneIn(t, made(t, nil)) })
			t.Run("lease", func(t *testing.T) { leaseIn(t, made(t, nil)) })
			t.Run("many", func(t *testing.T) { manyIn(t, made(t, nil)) })
			t.Run("meters", func(t *testing.T) { metersIn(t, made(t, limits)) })
			t.Run("schema", func(t *testing.T) { driftIn(t, made(t, nil), "assay_") })
			t.Run("standby", func(t *testing.T) { standbyIn(t, made(t, nil)) })
		})
	}
}

// An engine that only reads is refused, and taken when it writes again.
func standbyIn(t *testing.T, shop *shop) {
	set := func(on bool) {
		text := "SET GLOBAL read_only = " + map[bool]string{true: "ON", false: "OFF"}[on]
		if shop.executor.Dialect() == "postgres" {
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
	isRefused(t, err, "unavailable.store.standby")
	shop.claims(t, jws, "ann", "granted", 200)
}
