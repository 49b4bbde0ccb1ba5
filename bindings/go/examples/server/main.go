// Command server answers two requests with what Apple signed:
//
//	POST /notifications   an App Store Server Notification V2, as Apple sends it
//	POST /transactions    {"jws":"…","account":"…"}: a purchase that an app sends
//
// A notification is in the journal, on disk, before Apple gets 200, because Apple does not
// send an acknowledged one again. Plans are kept in memory and rebuilt from the journal at the
// start; a real server has a database for both.
//
//	ASSAY_CONFIG=config.json ASSAY_JOURNAL=notifications.jws \
//	  go run ./examples/server 127.0.0.1:8080
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	assay "assay.example/bindings/go"
)

// maxBody is larger than any notification with everything inside it.
const maxBody = 256 << 10

// A server verifies with one verifier, which all requests share.
type server struct {
	verifier *assay.Verifier
	clock    func() time.Time
	store    *store
}

// A store has the decided plans, the keys of the handled notifications, and their texts.
type store struct {
	mutex   sync.Mutex
	plans   map[string]string // subscription key -> plan
	seen    map[string]bool   // notification key
	journal *os.File          // a JWS per line
}

// keep writes a notification's text into the journal, once for each key, and returns false if
// the key is known. Without an error the text is on disk.
func (s *store) keep(notification, jws string) (bool, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.seen[notification] {
		return false, nil
	}
	if _, err := s.journal.WriteString(jws + "\n"); err != nil {
		return false, err
	}
	if err := s.journal.Sync(); err != nil {
		return false, err
	}
	s.seen[notification] = true
	return true, nil
}

// remember stores the plan of a subscription.
func (s *store) remember(subscription, plan string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.plans[subscription] = plan
}

// newServer returns a server with the plans of the journal's notifications.
func newServer(
	ctx context.Context, verifier *assay.Verifier, clock func() time.Time, journal string,
) (*server, error) {
	file, err := os.OpenFile(journal, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	// A last line without a line end was never acknowledged: a crash, or a full disk.
	whole := bytes.LastIndexByte(text, '\n') + 1
	if err := file.Truncate(int64(whole)); err != nil {
		return nil, err
	}
	s := &server{verifier, clock, &store{
		plans: map[string]string{}, seen: map[string]bool{}, journal: file}}
	for _, jws := range strings.Fields(string(text[:whole])) {
		if err := s.replay(ctx, jws); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// replay applies one notification of the journal. The text is verified again, because the file
// could have been changed.
func (s *server) replay(ctx context.Context, jws string) error {
	note, err := s.verifier.VerifyNotification(ctx, jws, assay.At(s.clock()))
	if errors.Is(err, assay.ErrUnsupported) {
		s.store.seen[unknown(jws)] = true
		return nil
	} else if err != nil {
		return err
	}
	defer note.Close()
	s.store.seen[note.Keys.Notification] = true
	_, err = s.apply(ctx, note)
	return err
}

// unknown returns the key of a notification that this version does not support.
func unknown(jws string) string {
	return fmt.Sprintf("unknown/%x", sha256.Sum256([]byte(jws)))
}

func (s *server) handler() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("/notifications", s.post(s.notification))
	routes.HandleFunc("/transactions", s.post(s.transaction))
	return routes
}

// post returns a handler that reads a body and answers with JSON, or with the refusal.
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

// refuse logs the whole error, and sends the client only the HTTP status.
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

// errBody is the error of a body that is not the expected JSON.
var errBody = errors.New("the body is not of its form")

// notification handles what Apple sends, which may be late, repeated and out of order: the
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
	if errors.Is(err, assay.ErrUnsupported) {
		// Genuine, but of a newer version: keep the text until the library supports it.
		log.Print(err)
		fresh, err := s.store.keep(unknown(request.SignedPayload), request.SignedPayload)
		return map[string]any{"new": fresh}, err
	} else if err != nil {
		return nil, err
	}
	defer note.Close()
	fresh, err := s.store.keep(note.Keys.Notification, request.SignedPayload)
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"type": note.Type, "new": fresh}
	plan, err := s.apply(ctx, note)
	if err != nil {
		// The notification is in the journal: the next start applies it.
		log.Print(err)
	} else if plan != "" {
		answer["plan"] = plan
	}
	return answer, nil
}

// apply stores the plan that follows from a notification, and returns it; "" if the
// notification is about no subscription, as TEST is.
func (s *server) apply(ctx context.Context, note *assay.Notification) (string, error) {
	if note.Transaction == nil {
		return "", nil
	}
	decision, err := s.verifier.Decide(ctx, []assay.Evidence{note}, assay.At(s.clock()))
	if err != nil {
		return "", err
	}
	defer decision.Close()
	s.store.remember(note.Transaction.Keys.Subscription, decision.Plan)
	return decision.Plan, nil
}

// transaction handles what an app sends. Nothing unsigned of it is trusted.
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
	s.store.remember(transaction.Keys.Subscription, decision.Plan)
	return map[string]any{
		"product": transaction.ProductID, "plan": decision.Plan,
		"entitled": decision.Entitled, "state": decision.State,
	}, nil
}

// serve answers requests until the context is done, then waits for the open ones.
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
	journal := os.Getenv("ASSAY_JOURNAL")
	if journal == "" {
		log.Fatal("ASSAY_JOURNAL is not set: where are notifications kept?")
	}
	s, err := newServer(ctx, verifier, time.Now, journal)
	if err != nil {
		log.Fatal(err)
	}
	if err := serve(ctx, listener, s.handler()); err != nil {
		log.Fatal(err)
	}
}
