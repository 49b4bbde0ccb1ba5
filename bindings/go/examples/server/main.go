// Command server answers two requests with what Apple signed:
//
//	POST /notifications   an App Store Server Notification V2, as Apple sends it
//	POST /transactions    {"jws":"…","account":"…"}: a purchase that an app shows
//
// It keeps the plan of each account in memory; a real server has a database there.
//
//	ASSAY_CONFIG=config.json go run ./examples/server 127.0.0.1:8080
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"time"

	"assay"
)

// maxBody is more than a notification with everything inside it has.
const maxBody = 256 << 10

// A server verifies with one verifier, which all requests share.
type server struct {
	verifier *assay.Verifier
	clock    func() time.Time
	store    *store
}

// A store has what was decided, and which notifications were seen.
type store struct {
	mutex sync.Mutex
	plans map[string]string // subscription key -> plan
	seen  map[string]bool   // notification key
}

// remember keeps a plan, once for each notification; false when it was seen.
func (s *store) remember(notification, subscription, plan string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if notification != "" {
		if s.seen[notification] {
			return false
		}
		s.seen[notification] = true
	}
	if subscription != "" {
		s.plans[subscription] = plan
	}
	return true
}

func newServer(verifier *assay.Verifier, clock func() time.Time) *server {
	return &server{verifier, clock, &store{plans: map[string]string{}, seen: map[string]bool{}}}
}

func (s *server) handler() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("/notifications", s.post(s.notification))
	routes.HandleFunc("/transactions", s.post(s.transaction))
	return routes
}

// post reads a body and answers with JSON, or with what a refusal says.
func (s *server) post(
	answer func(ctx context.Context, body []byte) (any, error),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, "POST only", http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		found, err := answer(r.Context(), body)
		if err != nil {
			refuse(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(found); err != nil {
			log.Printf("%s: %v", r.URL.Path, err)
		}
	}
}

// refuse tells the operator everything and the client nothing but the HTTP status.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	code := http.StatusInternalServerError
	var refused *assay.Error
	if errors.As(err, &refused) {
		code = refused.HTTPStatus
	} else if errors.Is(err, errBody) {
		code = http.StatusBadRequest
	}
	log.Printf("%s: %d: %v", r.URL.Path, code, err)
	http.Error(w, "refused", code)
}

// errBody says that a body is not the JSON that it should be.
var errBody = errors.New("the body is not of its form")

// notification takes what Apple sends. It comes late, twice and out of order: the
// decision is made from the evidence inside, not from the type.
func (s *server) notification(ctx context.Context, body []byte) (any, error) {
	var request struct {
		SignedPayload string `json:"signedPayload"`
	}
	if json.Unmarshal(body, &request) != nil {
		return nil, errBody
	}
	now := assay.At(s.clock())
	note, err := s.verifier.VerifyNotification(ctx, request.SignedPayload, now)
	if err != nil {
		return nil, err
	}
	defer note.Close()
	answer := map[string]any{"type": note.Type, "new": true}
	if note.Transaction == nil {
		answer["new"] = s.store.remember(note.Keys.Notification, "", "")
		return answer, nil
	}
	decision, err := s.verifier.Decide(ctx, []assay.Evidence{note}, now)
	if err != nil {
		return nil, err
	}
	defer decision.Close()
	answer["plan"] = decision.Plan
	answer["new"] = s.store.remember(
		note.Keys.Notification, note.Transaction.Keys.Subscription, decision.Plan)
	return answer, nil
}

// transaction takes what an app shows. What the client says of itself is not asked.
func (s *server) transaction(ctx context.Context, body []byte) (any, error) {
	var request struct {
		JWS     string `json:"jws"`
		Account string `json:"account"`
	}
	if json.Unmarshal(body, &request) != nil {
		return nil, errBody
	}
	now := assay.At(s.clock())
	transaction, err := s.verifier.VerifyTransaction(ctx, request.JWS, now)
	if err != nil {
		return nil, err
	}
	defer transaction.Close()
	options := []assay.Option{now}
	if request.Account != "" {
		options = append(options, assay.Account(request.Account))
	}
	decision, err := s.verifier.Decide(ctx, []assay.Evidence{transaction}, options...)
	if err != nil {
		return nil, err
	}
	defer decision.Close()
	s.store.remember("", transaction.Keys.Subscription, decision.Plan)
	return map[string]any{
		"product": transaction.ProductID, "plan": decision.Plan,
		"entitled": decision.Entitled, "state": decision.State,
	}, nil
}

// serve answers until the context is done, then lets the open requests end.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	web := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		patience, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := web.Shutdown(patience); err != nil {
			log.Print(err)
		}
	}()
	if err := web.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

func main() {
	address := "127.0.0.1:8080"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	config, err := os.ReadFile(os.Getenv("ASSAY_CONFIG"))
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := assay.NewVerifier(config)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("listening on %s", listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, listener, newServer(verifier, time.Now).handler()); err != nil {
		log.Fatal(err)
	}
}
