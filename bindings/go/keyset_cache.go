package assay

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
)

// KeysetCache fetches and keeps the key sets of token issuers. A process needs one:
//
//	keys := &assay.KeysetCache{Verifier: verifier}
//	token, err := keys.VerifyToken(ctx, text, issuer)
//
// A set is fetched for the first token, after a token with an unknown key, and when the set is
// older than keysetMaxAgeMs; the old one is used until the new one has arrived. All goroutines
// share one request at a time for each issuer, and the library determines how soon the next
// may follow (docs/spec/access-tokens.md, KST-1 … 13).
type KeysetCache struct {
	// Verifier is the one whose configuration has the issuers.
	Verifier *Verifier
	// Runner runs the HTTP steps; nil means the method Send of a Sender.
	Runner StepRunner
	// Load returns what Save was given for an issuer, or nothing; a cold start then needs no
	// fetch. Load and Save may be nil.
	Load func(issuer string) []byte
	// Save stores public keys and times, which are not secret.
	Save func(issuer string, kept []byte)

	mutex sync.Mutex // guards known
	known map[string]*knownKeys

	runExchange func(context.Context, any) (*Document, error) // set by tests
}

// knownKeys is the cached state of one issuer.
type knownKeys struct {
	keys   *Keyset
	kept   keptKeys
	flight *keysFlight // the running fetch
}

// keptKeys are the JSON of a key set, and the state to pass to the next fetch.
type keptKeys struct {
	Keyset string          `json:"keyset,omitempty"`
	State  json.RawMessage `json:"state,omitempty"`
}

// A keysFlight is one fetch and its outcome, which is set before landed is closed.
type keysFlight struct {
	landed chan struct{}
	keys   *Keyset
	err    error
}

// keysAsked are the members of a request `fetch-keyset`.
type keysAsked struct {
	Operation string `json:"operation"`
	Issuer    string `json:"issuer"`
	WantKid   string `json:"wantKid,omitempty"`
	keptKeys
}

// keysFound is the result of the finished exchange. The state to keep has another name there.
type keysFound struct {
	Keyset string          `json:"keyset"`
	State  json.RawMessage `json:"keysetState"`
}

// VerifyToken verifies a token as Verifier.VerifyToken does, with the keys of an issuer,
// fetched as needed. The error is also that of a fetch if there is no key set without it, or
// the context's.
func (k *KeysetCache) VerifyToken(
	ctx context.Context, token, issuer string, options ...Option,
) (*Token, error) {
	keys, err := k.Keyset(ctx, issuer)
	if err != nil {
		return nil, err
	}
	found, err := k.Verifier.VerifyToken(ctx, token, keys, options...)
	if wantsKeys(err) {
		fresh, failed := k.Refresh(ctx, issuer, keys, kidOf(token))
		if failed != nil {
			return nil, failed
		}
		if fresh != keys {
			return k.Verifier.VerifyToken(ctx, token, fresh, options...)
		}
	}
	if err == nil && found.Keyset.Stale != nil && *found.Keyset.Stale {
		_, _ = k.Refresh(ctx, issuer, keys, "") // the old key set stays in use
	}
	return found, err
}

// Keyset returns the cached key set, and fetches one if there is none.
func (k *KeysetCache) Keyset(ctx context.Context, issuer string) (*Keyset, error) {
	k.mutex.Lock()
	keys := k.of(issuer).keys
	k.mutex.Unlock()
	if keys != nil {
		return keys, nil
	}
	return k.Refresh(ctx, issuer, nil, "")
}

// Refresh returns a key set newer than old if there is one, else old. Callers share a running
// fetch, which continues when the context of one of them is done. wantKid is the key id of a
// token; empty for none.
func (k *KeysetCache) Refresh(ctx context.Context, issuer string, old *Keyset, wantKid string) (
	*Keyset, error,
) {
	k.mutex.Lock()
	known := k.of(issuer)
	if known.keys != nil && known.keys != old {
		defer k.mutex.Unlock()
		return known.keys, nil
	}
	flight := known.flight
	if flight == nil {
		flight = &keysFlight{landed: make(chan struct{})}
		known.flight = flight
		go k.fly(issuer, wantKid, known.kept, flight)
	}
	k.mutex.Unlock()
	select {
	case <-flight.landed:
		return flight.keys, flight.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// of returns the state of an issuer, loaded with Load the first time. The mutex must be held.
func (k *KeysetCache) of(issuer string) *knownKeys {
	if known, there := k.known[issuer]; there {
		return known
	}
	known := new(knownKeys)
	if k.Load != nil {
		if json.Unmarshal(k.Load(issuer), &known.kept) == nil && known.kept.Keyset != "" {
			known.keys, _ = NewKeyset(known.kept.Keyset)
		}
	}
	if k.known == nil {
		k.known = map[string]*knownKeys{}
	}
	k.known[issuer] = known
	return known
}

// fly fetches a key set and, if successful, stores it as that of the issuer.
func (k *KeysetCache) fly(issuer, wantKid string, kept keptKeys, flight *keysFlight) {
	asked := keysAsked{Operation: "fetch-keyset", Issuer: issuer, WantKid: wantKid, keptKeys: kept}
	keys, kept, err := k.fetched(asked)
	if text, failed := json.Marshal(kept); failed == nil && k.Save != nil {
		k.Save(issuer, text)
	}
	k.mutex.Lock()
	known := k.known[issuer]
	known.flight, known.kept = nil, kept
	if keys != nil {
		known.keys = keys
	}
	flight.keys, flight.err = known.keys, nil
	if known.keys == nil {
		flight.err = err
	}
	k.mutex.Unlock()
	close(flight.landed)
}

// fetched returns a new key set, or nil and the reason; and the state to keep, also after a
// refusal, because it has the cooldown.
func (k *KeysetCache) fetched(asked keysAsked) (*Keyset, keptKeys, error) {
	kept := asked.keptKeys
	document, err := k.lastDocument(context.Background(), asked)
	if err != nil {
		return nil, kept, err
	}
	var found keysFound
	if _, err := factsAt(document, &found, "exchange"); err != nil {
		return nil, kept, err
	}
	if found.State != nil {
		kept.State = found.State
	}
	if !document.OK() {
		return nil, kept, document.Err()
	}
	// The same keys with a later time are a new set too, because a set has an age.
	keys, err := NewKeyset(found.Keyset)
	if err == nil {
		kept.Keyset = found.Keyset
	}
	return keys, kept, err
}

// lastDocument runs an exchange to its result, or to a wait, which is the cooldown.
func (k *KeysetCache) lastDocument(ctx context.Context, asked keysAsked) (*Document, error) {
	if k.runExchange != nil {
		return k.runExchange(ctx, asked)
	}
	exchange, err := k.Verifier.Exchange(ctx, asked, nil)
	if err != nil {
		return nil, err
	}
	runner := k.Runner
	if runner == nil {
		runner = (&Sender{}).Send
	}
	document, err := exchange.Run(ctx, func(ctx context.Context, x *Exchange) (any, error) {
		if x.StepName() == "wait" {
			return nil, ErrTooLong
		}
		return runner(ctx, x)
	})
	if errors.Is(err, ErrTooLong) {
		return exchange.Document(), nil
	}
	return document, err
}

// wantsKeys reports whether a refreshed key set may have the key of a token, or a sufficient
// age.
func wantsKeys(err error) bool {
	var refused *Error
	if !errors.As(err, &refused) {
		return false
	}
	if refused.Name == "unavailable.token.keyset-too-old" {
		return true
	}
	if refused.Name != "rejected.token.unknown-key" {
		return false
	}
	keyset, _, failed := refused.Document.Text("error.keyset")
	return failed == nil && keyset == "refresh"
}

// kidOf returns the key id in the header of a token: a hint for the library, not verified.
func kidOf(token string) string {
	head, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(head)
	var named struct {
		Kid string `json:"kid"`
	}
	if err != nil || json.Unmarshal(text, &named) != nil {
		return ""
	}
	return named.Kid
}
