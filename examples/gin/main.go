// Command gin is a shop on Gin: a purchase that is paid out once, and Apple's notifications.
// It reads config.json and keys.json of the current folder, and keeps shop.db there.
//
//	go run . setup             makes the tables, once
//	go run . 127.0.0.1:8080    serves
package main

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"net/http"
	"os"
	"strings"

	assay "assay.example/bindings/go"
	"assay.example/bindings/go/ledger"
	"github.com/gin-gonic/gin"
	_ "github.com/mattn/go-sqlite3"
)

type shop struct {
	ledger *ledger.Ledger
	keys   *assay.Keyset
}

func (s *shop) routes() *gin.Engine {
	router := gin.New()
	router.Use(gin.Recovery())
	router.POST("/v1/purchases", s.purchase)
	router.POST("/v1/notifications", s.notify)
	return router
}

// refuse tells the operator why, and the client that it was.
func refuse(c *gin.Context, err error) {
	_ = c.Error(err)
	status := http.StatusInternalServerError
	var refusal *assay.Error
	if errors.As(err, &refusal) {
		status = refusal.HTTPStatus
	}
	if status == http.StatusServiceUnavailable {
		c.Header("Retry-After", "5")
	}
	c.JSON(status, gin.H{"error": "refused"})
}

// body reads at most limit bytes of JSON; false: it has answered.
func body(c *gin.Context, limit int64, into any) bool {
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, limit)
	if err := c.ShouldBindJSON(into); err != nil {
		c.JSON(http.StatusBadRequest, gin.H{"error": "refused"})
		return false
	}
	return true
}

func (s *shop) purchase(c *gin.Context) {
	ctx, verifier := c.Request.Context(), s.ledger.Verifier()
	bearer := strings.TrimPrefix(c.GetHeader("Authorization"), "Bearer ")
	token, err := verifier.VerifyToken(ctx, bearer, s.keys)
	if err != nil {
		refuse(c, err)
		return
	}
	defer token.Close()
	var asked struct {
		JWS string `json:"jws" binding:"required"`
	}
	if !body(c, 64<<10, &asked) {
		return
	}
	claimed, err := s.ledger.Claim(ctx, ledger.ClaimRequest{
		JWS: asked.JWS, Account: token.Subject, Grant: s.payOut})
	if err != nil {
		refuse(c, err)
		return
	}
	if claimed.ClientResult == "deferred" {
		c.Header("Retry-After", "5")
	}
	c.JSON(claimed.HTTPStatus, gin.H{"answer": claimed.ClientResult})
}

// payOut writes in the transaction of the claim, for a customer without a row as well.
func (s *shop) payOut(ctx context.Context, grant *ledger.Grant) error {
	_, err := grant.Tx.ExecContext(ctx,
		"INSERT INTO wallet (account, coins) VALUES (?, ?) ON CONFLICT (account)"+
			" DO UPDATE SET coins = wallet.coins + excluded.coins",
		grant.Account, 100*grant.Units)
	return err
}

// notify answers 200 only when it is stored: Apple repeats everything else.
func (s *shop) notify(c *gin.Context) {
	var sent struct {
		SignedPayload string `json:"signedPayload" binding:"required"`
	}
	if !body(c, 256<<10, &sent) {
		return
	}
	ctx := c.Request.Context()
	note, err := s.ledger.Verifier().VerifyNotification(ctx, sent.SignedPayload)
	if errors.Is(err, assay.ErrUnsupported) { // genuine, and newer than this version
		_ = c.Error(err)
		c.Status(http.StatusOK)
		return
	}
	status := http.StatusOK
	if err == nil {
		defer note.Close()
		status, err = s.happened(ctx, note)
	}
	if err != nil {
		refuse(c, err)
		return
	}
	c.Status(status)
}

// happened does what a notification says, together with its row in the ledger: refunds are taken
// back, reversed ones are paid out again. What the ledger refuses, a product that is not sold
// here, is refused again however often it comes.
func (s *shop) happened(ctx context.Context, note *assay.Notification) (int, error) {
	if note.Transaction == nil {
		return http.StatusOK, nil
	}
	event, err := s.ledger.ApplyEvent(ctx, ledger.ApplyEventRequest{Grant: s.payOut,
		RevokeRequest: ledger.RevokeRequest{Evidence: []assay.Evidence{note},
			TakeBack: s.takeBack, GrantMode: ledger.Transaction}})
	if err != nil {
		return 0, err
	}
	for _, part := range event.Refused {
		log.Printf("%s %s: %s", part.At, part.TransactionID, part.Status)
	}
	return event.HTTPStatus, nil
}

// takeBack writes in the transaction of the refund.
func (s *shop) takeBack(ctx context.Context, take *ledger.Take) error {
	_, err := take.Tx.ExecContext(ctx, "UPDATE wallet SET coins = coins - ? WHERE account = ?",
		100*take.Units, take.Account)
	return err
}

// open reads the configuration and the keys of the current folder.
func open(ctx context.Context) (*shop, error) {
	config, err := os.ReadFile("config.json")
	if err != nil {
		return nil, err
	}
	jwks, err := os.ReadFile("keys.json")
	if err != nil {
		return nil, err
	}
	keys, err := assay.NewKeyset(string(jwks))
	if err != nil {
		return nil, err
	}
	opened, err := ledger.Open(ctx, "sqlite3", "./shop.db", string(config))
	return &shop{opened, keys}, err
}

// setup makes the tables of the ledger, and the shop's own.
func (s *shop) setup(ctx context.Context) error {
	if err := s.ledger.CreateSchema(ctx); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", "./shop.db")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx,
		"CREATE TABLE wallet (account TEXT PRIMARY KEY, coins INTEGER NOT NULL)")
	return err
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: gin setup | ADDRESS")
	}
	ctx := context.Background()
	made, err := open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if os.Args[1] == "setup" {
		err = made.setup(ctx)
	} else {
		err = http.ListenAndServe(os.Args[1], made.routes())
	}
	if err != nil {
		log.Fatal(err)
	}
}
