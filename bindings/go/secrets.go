package assay

import (
	"encoding/json"
	"fmt"
	"io"
)

// The types below print no content with any verb of fmt, because it must not be logged
// (EXC-22).

const notShown = "(not shown)"

func hide(state fmt.State, name string) { _, _ = io.WriteString(state, "assay."+name+notShown) }

// A Payload is the JSON of a step, including the secrets that Apple must receive.
type Payload json.RawMessage

// Format prints the type's name only.
func (p Payload) Format(state fmt.State, _ rune) { hide(state, "Payload") }

// MarshalJSON returns the JSON as the library wrote it.
func (p Payload) MarshalJSON() ([]byte, error) { return json.RawMessage(p).MarshalJSON() }

// Format prints the kind and status of the exchange's document.
func (x *Exchange) Format(state fmt.State, _ rune) {
	_, _ = fmt.Fprintf(state, "assay.Exchange(%v)", x.Document())
}

// Format prints the type's name only: a client or a host may contain secrets.
func (s Sender) Format(state fmt.State, _ rune) { hide(state, "Sender") }

// Format prints the type's name only.
func (SignedToken) Format(state fmt.State, _ rune) { hide(state, "SignedToken") }

// Format prints the type's name only.
func (ClientSecret) Format(state fmt.State, _ rune) { hide(state, "ClientSecret") }

// Format prints the type's name only.
func (AppleTokens) Format(state fmt.State, _ rune) { hide(state, "AppleTokens") }

// Format prints the type's name only.
func (IssuedSession) Format(state fmt.State, _ rune) { hide(state, "IssuedSession") }

func (httpRequest) Format(state fmt.State, _ rune) { hide(state, "request") }

func (httpAnswer) Format(state fmt.State, _ rune) { hide(state, "answer") }
