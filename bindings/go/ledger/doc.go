// Package ledger keeps purchases that are granted once, subscriptions, quotas, sign-ups and
// device keys in your database. The library selects each statement, this package runs it with
// your own driver, and the library evaluates the reply.
//
//	import _ "github.com/mattn/go-sqlite3" // or any other driver of database/sql
//
//	purchases, err := ledger.Open(ctx, "sqlite3", "/srv/shop.db", config)
//	claimed, err := purchases.Claim(ctx, ledger.ClaimRequest{
//		JWS: jws, Account: account, Grant: func(ctx context.Context, grant *ledger.Grant) error {
//			_, err := grant.Tx.ExecContext(ctx,
//				"INSERT INTO coins (grant_id, account, n) VALUES (?, ?, ?)",
//				grant.ID, grant.Account, 100*grant.Units)
//			return err
//		},
//	})
//	w.WriteHeader(claimed.HTTPStatus)
//
// What the grant writes and the claim are committed together, or neither is.
package ledger
