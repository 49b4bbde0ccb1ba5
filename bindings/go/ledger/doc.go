// Package ledger keeps purchases that are paid out once, subscriptions, quotas, sign-ups and
// keys in a store of yours. The library says which statement to run, this package runs it
// with your own client, and the library judges what came back.
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
// What the grant writes and the claim stand together, or not at all.
package ledger
