package assay

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Tests of key sets that are fetched on demand. The test's own exchange returns `fetch-keyset`
// documents as in docs/spec/access-tokens.md §5.1; the tokens are real ones.

// An issuerPlay replies to exchanges with the key set of a case, and blocks them while its
// gate is closed.
type issuerPlay struct {
	t       *testing.T
	keys    *KeysetCache
	each    *tableCase
	issuer  string
	gate    chan struct{}
	fetches atomic.Int32
	mutex   sync.Mutex
	asked   []keysAsked
	content map[string]any
	refuse  bool
}

func playIssuer(t *testing.T) *issuerPlay {
	t.Helper()
	for i := range theCases(t).Cases {
		each := &theCases(t).Cases[i]
		if each.Call != "verify_token" || each.Expect.Status != "ok" {
			continue
		}
		play := &issuerPlay{t: t, each: each, gate: make(chan struct{})}
		must(t, json.Unmarshal(each.input(t, "jwks"), &play.content))
		play.issuer = play.content["issuer"].(string)
		play.keys = &KeysetCache{Verifier: theCases(t).verifier(t, each.Verifier),
			runExchange: play.runExchange}
		close(play.gate)
		return play
	}
	t.Fatal("the case table has no accepted token")
	return nil
}

func (p *issuerPlay) runExchange(_ context.Context, request any) (*Document, error) {
	p.fetches.Add(1)
	<-p.gate
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.asked = append(p.asked, request.(keysAsked))
	if p.refuse {
		return nil, errors.New("no answer")
	}
	text, err := json.Marshal(p.content)
	must(p.t, err)
	document, err := json.Marshal(map[string]any{"exchange": map[string]any{
		"step": "done", "keyset": string(text), "changed": true,
		"keysetState": map[string]any{"fetchedAtMs": 1},
	}})
	must(p.t, err)
	return &Document{json: string(document)}, nil
}

func (p *issuerPlay) verify() (*Token, error) {
	return p.keys.VerifyToken(ctx, string(p.each.input(p.t, "token")), p.issuer, p.each.at())
}

func TestKeysetCacheFetchOnce(t *testing.T) {
	play := playIssuer(t)
	var kept []byte
	play.keys.Save = func(_ string, text []byte) { kept = text }
	for i := 0; i < 3; i++ {
		if _, err := play.verify(); err != nil {
			t.Fatal(err)
		}
	}
	if asked := play.asked; len(asked) != 1 || asked[0].Operation != "fetch-keyset" ||
		asked[0].Issuer != play.issuer || asked[0].Keyset != "" {
		t.Errorf("%+v", asked)
	}
	cold := playIssuer(t)
	cold.keys.Load = func(string) []byte { return kept }
	if _, err := cold.verify(); err != nil || len(cold.asked) != 0 {
		t.Errorf("a cold start with what was kept: %v, %d", err, len(cold.asked))
	}
}

func TestKeysetCacheUnknownKey(t *testing.T) {
	play := playIssuer(t)
	all := play.content["keys"].([]any)
	other := map[string]any{}
	for name, value := range all[0].(map[string]any) {
		other[name] = value
	}
	other["kid"] = "another"
	play.content["keys"] = []any{other}
	_, err := play.verify() // unknown in the first set, and in the second one
	if !errors.Is(err, ErrRejected) || play.fetches.Load() != 2 {
		t.Fatalf("%v after %d", err, play.fetches.Load())
	}
	if asked := play.asked[1]; asked.WantKid != all[0].(map[string]any)["kid"] ||
		asked.Keyset == "" || !strings.Contains(string(asked.State), "fetchedAtMs") {
		t.Errorf("%+v", asked)
	}
	play.content["keys"] = all
	if _, err := play.verify(); err != nil {
		t.Error(err)
	}
	play.refuse = true
	if _, err := play.verify(); err != nil {
		t.Errorf("the set at hand serves on: %v", err)
	}
}

func TestKeysetCacheNoAnswer(t *testing.T) {
	play := playIssuer(t)
	play.refuse = true
	if _, err := play.verify(); err == nil || err.Error() != "no answer" {
		t.Errorf("no key set and no answer: %v", err)
	}
}

func TestKeysetCacheSingleFlight(t *testing.T) {
	play := playIssuer(t)
	play.gate = make(chan struct{})
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			if _, err := play.verify(); err != nil {
				t.Error(err)
			}
		}()
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := play.keys.Keyset(short, play.issuer); err != context.DeadlineExceeded {
		t.Errorf("one that cannot wait: %v", err)
	}
	close(play.gate)
	group.Wait()
	if play.fetches.Load() != 1 {
		t.Errorf("%d requests", play.fetches.Load())
	}
}

// Asserts the same with the library's exchange, over the network with an issuer on loopback.
func TestKeysetCacheOfTheLibrary(t *testing.T) {
	const issuer = "https://es256.example.com"
	bench := playFaults(t)
	verifier, err := NewVerifier(bench.Config)
	must(t, err)
	defer verifier.Close()
	send := (&Sender{Hosts: bench.Hosts}).Send
	var kept keptKeys
	sets := &KeysetCache{Verifier: verifier, Runner: send, Save: func(_ string, text []byte) {
		must(t, json.Unmarshal(text, &kept))
	}}
	var made struct{ Token string }
	must(t, json.Unmarshal(bench.play(t, "token", []byte(`{"issuer":"`+issuer+`"}`)), &made))
	token, err := sets.VerifyToken(ctx, made.Token, issuer, At(time.UnixMilli(bench.Now)))
	must(t, err)
	if token.Keyset.Issuer != issuer {
		t.Errorf("the keys of %s", token.Keyset.Issuer)
	}
	keys, err := sets.Keyset(ctx, issuer)
	must(t, err)
	if again, err := sets.Refresh(ctx, issuer, keys, "other"); again != keys {
		t.Errorf("in the cooldown: %v", err)
	}
	// A set that is too old verifies nothing, which is a reason to fetch (KST-5).
	var content map[string]any
	must(t, json.Unmarshal([]byte(kept.Keyset), &content))
	content["fetchedAtMs"] = bench.Now - 8*24*time.Hour.Milliseconds()
	old, err := json.Marshal(content)
	must(t, err)
	cold := &KeysetCache{Verifier: verifier, Runner: send, Load: func(string) []byte {
		text, err := json.Marshal(keptKeys{Keyset: string(old)})
		must(t, err)
		return text
	}}
	_, err = cold.VerifyToken(ctx, made.Token, issuer, At(time.UnixMilli(bench.Now)))
	must(t, err)
}
