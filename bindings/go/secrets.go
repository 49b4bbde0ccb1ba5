package assay

import (
	"encoding/json"
	"fmt"
	"io"
)

// What must not be logged, fmt prints with no verb (EXC-22).

const notShown = "(not shown)"

func hide(state fmt.State, name string) { _, _ = io.WriteString(state, "assay."+name+notShown) }

// A Payload is JSON of a step: what to send, with the secrets that Apple must receive.
type Payload json.RawMessage

// Format prints none of it.
func (p Payload) Format(state fmt.State, _ rune) { hide(state, "Payload") }

// MarshalJSON gives it as the library wrote it.
func (p Payload) MarshalJSON() ([]byte, error) { return json.RawMessage(p).MarshalJSON() }

// Format prints where the exchange stands.
func (x *Exchange) Format(state fmt.State, _ rune) {
	_, _ = fmt.Fprintf(state, "assay.Exchange(%v)", x.Document())
}

// Format prints none of it: a client or a host may hold secrets of yours.
func (s Sender) Format(state fmt.State, _ rune) { hide(state, "Sender") }

// Format prints none of it.
func (SignedToken) Format(state fmt.State, _ rune) { hide(state, "SignedToken") }

// Format prints none of it.
func (ClientSecret) Format(state fmt.State, _ rune) { hide(state, "ClientSecret") }

// Format prints none of it.
func (AppleTokens) Format(state fmt.State, _ rune) { hide(state, "AppleTokens") }

// Format prints none of it.
func (IssuedSession) Format(state fmt.State, _ rune) { hide(state, "IssuedSession") }

func (httpRequest) Format(state fmt.State, _ rune) { hide(state, "request") }

func (httpAnswer) Format(state fmt.State, _ rune) { hide(state, "answer") }
