package assay

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"sync"
)

// KeysetCache has the key sets of token issuers, fetched when they are needed: one for the
// process.
//
//	keys := &assay.KeysetCache{Verifier: verifier}
//	token, err := keys.VerifyToken(ctx, text, issuer)
//
// A set is fetched at the first token, after a token with an unknown key, and when it is
// older than keysetMaxAgeMs; then the old one goes on serving. However many goroutines
// ask, one request is under way for an issuer, and the library says how soon the next may
// follow (docs/spec/access-tokens.md, KST-1 … 13).
type KeysetCache struct {
	// Verifier has the issuers in its configuration.
	Verifier *Verifier
	// Runner sends the requests; nil: the method Send of a Sender.
	Runner StepRunner
	// Load takes an issuer and gives what Save was given for it, or nothing: a cold start
	// then needs no fetch. Both may be nil.
	Load func(issuer string) []byte
	// Save takes public keys and times to keep, nothing secret.
	Save func(issuer string, kept []byte)

	mutex sync.Mutex // guards what follows
	known map[string]*knownKeys

	runExchange func(context.Context, any) (*Document, error) // of tests
}

// knownKeys is what is known of one issuer.
type knownKeys struct {
	keys   *Keyset
	kept   keptKeys
	flight *keysFlight // the fetch under way
}

// keptKeys are the text of a key set, and the state that the library wants back.
type keptKeys struct {
	Keyset string          `json:"keyset,omitempty"`
	State  json.RawMessage `json:"state,omitempty"`
}

// A keysFlight is one fetch and its outcome, which is there when landed is closed.
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

// keysFound is what the finished exchange says. The state to keep has a name
// of its own.
type keysFound struct {
	Keyset string          `json:"keyset"`
	State  json.RawMessage `json:"keysetState"`
}

// VerifyToken is Verifier.VerifyToken with the keys of an issuer, fetched as needed. The
// error is also that of a fetch without which there is no key set, or the context's.
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
		_, _ = k.Refresh(ctx, issuer, keys, "") // the old one serves on
	}
	return found, err
}

// Keyset is the key set at hand, fetched if there is none.
func (k *KeysetCache) Keyset(ctx context.Context, issuer string) (*Keyset, error) {
	k.mutex.Lock()
	keys := k.of(issuer).keys
	k.mutex.Unlock()
	if keys != nil {
		return keys, nil
	}
	return k.Refresh(ctx, issuer, nil, "")
}

// Refresh gives a key set newer than old, if there is one, else old. One caller's fetch
// serves all who ask meanwhile, and goes on when the context of one of them is done.
// wantKid is the key that a token names; empty for none.
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

// of is what is known of an issuer, with what was kept of it. Under the mutex.
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

// fly fetches a key set; what it found is that of the issuer from then on.
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

// fetched is a new key set, or nil and why there is none; and what to keep, after a
// refusal too: it has the cooldown.
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
	// The same keys with a later time are a new set too: it knows its age.
	keys, err := NewKeyset(found.Keyset)
	if err == nil {
		kept.Keyset = found.Keyset
	}
	return keys, kept, err
}

// lastDocument is the last document of an exchange; that of a wait is the cooldown.
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

// wantsKeys says whether a refreshed key set may know the key of a token, or be of a
// better age.
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

// kidOf is the key that a token names: a hint for the library, proof of nothing.
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
