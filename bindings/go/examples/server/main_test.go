package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	assay "assay.example/bindings/go"
)

// A minted is one accepted case of the shared table.
type minted struct {
	Call, Verifier, Kind, JWS string
	Now                       int64
	Expect                    struct{ Status string }
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// evidence returns the first accepted case of a kind, and its configuration.
func evidence(t *testing.T, kind string) (minted, json.RawMessage) {
	t.Helper()
	path := os.Getenv("ASSAY_CASES")
	if path == "" {
		t.Fatal("ASSAY_CASES is not set: run `make check`, which mints the cases")
	}
	text, err := os.ReadFile(path)
	must(t, err)
	var table struct {
		Verifiers map[string]json.RawMessage
		Cases     []json.RawMessage
	}
	must(t, json.Unmarshal(text, &table))
	for _, raw := range table.Cases {
		var each minted
		if json.Unmarshal(raw, &each) == nil && each.Call == "verify_jws" &&
			each.Kind == kind && each.Expect.Status == "ok" {
			return each, table.Verifiers[each.Verifier]
		}
	}
	t.Fatalf("the table has no accepted %s", kind)
	return minted{}, nil
}

// started returns a server on loopback and its address; it stops with the test.
func started(t *testing.T, config json.RawMessage, now time.Time) (*server, string) {
	t.Helper()
	verifier, err := assay.NewVerifier(config)
	must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	s, err := newServer(
		ctx, verifier, func() time.Time { return now }, filepath.Join(t.TempDir(), "journal"))
	must(t, err)
	ended := make(chan error)
	go func() { ended <- serve(ctx, listener, s.handler()) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		verifier.Close()
	})
	return s, "http://" + listener.Addr().String()
}

func post(t *testing.T, url string, body any) (int, map[string]any) {
	t.Helper()
	text, err := json.Marshal(body)
	must(t, err)
	answer, err := http.Post(url, "application/json", bytes.NewReader(text))
	must(t, err)
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	must(t, err)
	found := map[string]any{}
	if answer.StatusCode == http.StatusOK {
		must(t, json.Unmarshal(said, &found))
	}
	return answer.StatusCode, found
}

func TestNotification(t *testing.T) {
	note, config := evidence(t, "notification")
	s, address := started(t, config, time.UnixMilli(note.Now))
	body := map[string]string{"signedPayload": note.JWS}
	code, first := post(t, address+"/notifications", body)
	if code != 200 || first["type"] == "" || first["new"] != true {
		t.Fatalf("%d, %v", code, first)
	}
	code, again := post(t, address+"/notifications", body)
	if code != 200 || again["new"] != false {
		t.Errorf("the same once more: %d, %v", code, again)
	}
	if plan, told := first["plan"]; told && (len(s.store.plans) != 1 || plan == "") {
		t.Errorf("the store has %v", s.store.plans)
	}
	body["signedPayload"] = note.JWS[:len(note.JWS)-4] + "AAAA"
	if code, _ := post(t, address+"/notifications", body); code != 400 {
		t.Errorf("a broken signature: %d", code)
	}
	transaction, _ := evidence(t, "transaction")
	body["signedPayload"] = transaction.JWS
	if code, _ := post(t, address+"/notifications", body); code != 400 {
		t.Errorf("a transaction instead: %d", code)
	}
}

func TestJournal(t *testing.T) {
	note, config := evidence(t, "notification")
	s, address := started(t, config, time.UnixMilli(note.Now))
	body := map[string]string{"signedPayload": note.JWS}
	if code, _ := post(t, address+"/notifications", body); code != 200 {
		t.Fatal(code)
	}
	path := s.store.journal.Name()
	if text, err := os.ReadFile(path); err != nil || string(text) != note.JWS+"\n" {
		t.Fatalf("200 was answered, and the journal has %q, %v", text, err)
	}
	// A crash while the next line was being written, and a restart.
	_, err := s.store.journal.WriteString("eyJ")
	must(t, err)
	again, err := newServer(context.Background(), s.verifier, s.clock, path)
	must(t, err)
	if !reflect.DeepEqual(again.store.plans, s.store.plans) ||
		!reflect.DeepEqual(again.store.seen, s.store.seen) {
		t.Errorf("the journal gives %v", again.store)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != note.JWS+"\n" {
		t.Errorf("the journal has %q, %v", text, err)
	}
	again.store.journal.Close()
	// A notification that cannot be stored is neither acknowledged nor regarded as handled.
	s.store.journal.Close()
	s.store.seen = map[string]bool{}
	for range [2]int{} {
		if code, _ := post(t, address+"/notifications", body); code != 500 {
			t.Errorf("nothing is stored: %d", code)
		}
	}
}

func TestTransaction(t *testing.T) {
	bought, config := evidence(t, "transaction")
	_, address := started(t, config, time.UnixMilli(bought.Now))
	var all sync.WaitGroup
	for i := 0; i < 16; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			code, found := post(t, address+"/transactions", map[string]string{"jws": bought.JWS})
			if code != 200 || found["product"] == "" || found["plan"] == "" {
				t.Errorf("%d, %v", code, found)
			}
		}()
	}
	all.Wait()
	if code, _ := post(t, address+"/transactions", []int{1}); code != 400 {
		t.Errorf("no object: %d", code)
	}
	if code, _ := post(t, address+"/transactions", map[string]string{}); code != 400 {
		t.Errorf("no JWS: %d", code)
	}
	huge := map[string]string{"jws": string(bytes.Repeat([]byte("A"), maxBody))}
	if code, _ := post(t, address+"/transactions", huge); code != 413 {
		t.Errorf("a huge body: %d", code)
	}
	answer, err := http.Get(address + "/transactions")
	must(t, err)
	answer.Body.Close()
	if answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", answer.StatusCode)
	}
}
