package assay

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"runtime"

	"assay.example/bindings/go/internal/libassay"
)

// A Document is the immutable result of one call. Only a Verifier makes one.
//
// It is proof of its contents: Decide takes documents, or the facts made from them, and never
// JSON. Keep the signed text in your database, not documents, and verify it again. A document
// stays valid after its verifier was closed, and goroutines may share it.
//
// Its memory in the library is freed when no reference to it is left, or at Close.
type Document struct {
	handle libassay.Handle
	json   string
	status Status
}

// answered returns the document of a call; an error if the call made none.
func answered(answer libassay.Answer) (*Document, error) {
	if answer.Document.Empty() {
		return nil, refusalOf(Status(answer.Status))
	}
	document := &Document{json: answer.JSON, status: Status(answer.Status)}
	document.handle.Hold(answer.Document)
	runtime.SetFinalizer(document, (*Document).finalize)
	return document, nil
}

func (d *Document) finalize() { d.handle.Close() }

// Close frees the library's memory at once. Values read before stay valid, and so does JSON;
// Decide, Text and Integer then return ErrClosed. Closing twice is allowed, also while other
// goroutines use the document.
func (d *Document) Close() {
	d.handle.Close()
	runtime.SetFinalizer(d, nil)
}

// Status returns the outcome of the call that made the document.
func (d *Document) Status() Status { return d.status }

// OK reports whether every check passed. If not, trust nothing in the document.
func (d *Document) OK() bool { return d.status.OK() }

// Err returns nil if every check passed, else the *Error.
func (d *Document) Err() error {
	if d.OK() {
		return nil
	}
	return refusal(d)
}

// JSON returns the whole document as the library wrote it.
func (d *Document) JSON() string { return d.json }

// String returns the kind and the status, never the content: a step may contain secrets
// (EXC-22).
func (d *Document) String() string { return string(d.Kind()) + ": " + d.status.String() }

// Format prints the text of String for every verb.
func (d *Document) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, d.String()) }

// Raw returns a copy of the document's JSON for encoding/json.
func (d *Document) Raw() json.RawMessage { return json.RawMessage(d.json) }

// MarshalJSON returns the document as the library wrote it.
func (d *Document) MarshalJSON() ([]byte, error) { return []byte(d.json), nil }

// Kind returns the kind of the document: "transaction", "decision", "configuration" …
func (d *Document) Kind() Kind {
	var kind string
	s := scanner{text: d.json}
	if s.seek("kind") {
		kind, _ = s.str()
	}
	return Kind(kind)
}

// envelope has the members that documents of all kinds share.
type envelope struct {
	Checks   []Check   `json:"checks"`
	Warnings []Warning `json:"warnings"`
}

func (d *Document) envelope() envelope {
	var found envelope
	s := scanner{text: d.json}
	if !decode(&s, &found) {
		return envelope{}
	}
	return found
}

// Checks returns all checks of this kind of evidence, in the order in which they were made.
func (d *Document) Checks() []Check { return d.envelope().Checks }

// Warnings returns findings that did not lead to a refusal but need attention.
func (d *Document) Warnings() []Warning { return d.envelope().Warnings }

// Text reads one member as text, by its dotted path: "transaction.productId". found is false
// if the member is absent or not text.
func (d *Document) Text(path string) (text string, found bool, err error) {
	text, found, open := libassay.DocumentText(&d.handle, path)
	runtime.KeepAlive(d)
	if !open {
		return "", false, ErrClosed
	}
	return text, found, nil
}

// Integer reads one member as an integer, by its dotted path: "transaction.expiresDate". found
// is false if the member is absent or not an integer.
func (d *Document) Integer(path string) (value int64, found bool, err error) {
	value, found, open := libassay.DocumentInteger(&d.handle, path)
	runtime.KeepAlive(d)
	if !open {
		return 0, false, ErrClosed
	}
	return value, found, nil
}

// Facts returns the typed facts: *Transaction, *AppReceipt, *Decision, *Triage …
//
// It returns nil after a refusal, except for a decision that is not entitled, a triage, a risk
// and a DeviceCheck response; and nil for kinds that have no typed facts.
func (d *Document) Facts() (Evidence, error) {
	known, there, err := d.factsKind()
	if err != nil || !there {
		return nil, err
	}
	found := known.new()
	there, err = factsAt(d, found, known.path...)
	if err != nil || !there {
		return nil, err
	}
	if finished, ok := found.(interface{ finish() error }); ok {
		if err := finished.finish(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// unreadable returns the error of a document that is not of the expected form.
func (d *Document) unreadable() error {
	found := refusalOf(statusNamed(internalBug))
	found.Message, found.Document = errDocument.Error(), d
	return found
}

// Evidence is a Document, or facts made from one. Only this package implements it.
type Evidence interface {
	proof() *Document
}

func (d *Document) proof() *Document { return d }

// proofOf returns the document behind evidence; nil if there is none.
func proofOf(evidence Evidence) *Document {
	value := reflect.ValueOf(evidence)
	if !value.IsValid() || value.Kind() == reflect.Ptr && value.IsNil() {
		return nil
	}
	return evidence.proof()
}

// Facts are the part that facts of all kinds share: the document that proves them, and their
// JSON.
type Facts struct {
	document *Document
	raw      string
	payload  string
}

// Document returns the whole document: checks, warnings, JSON. Facts nested in others return
// the outer document. Nil for facts that no verifier made.
func (f *Facts) Document() *Document { return f.document }

// Raw returns a copy of the facts' JSON, including members that this version does not know.
func (f *Facts) Raw() json.RawMessage { return json.RawMessage(f.raw) }

// Payload returns a copy of the signed JSON, byte for byte, including members that this
// version does not know. Empty for kinds of evidence that are not signed as JSON.
func (f *Facts) Payload() json.RawMessage { return json.RawMessage(f.payload) }

// MarshalJSON returns the facts as the library wrote them.
func (f *Facts) MarshalJSON() ([]byte, error) {
	if f.raw == "" {
		return []byte("null"), nil
	}
	return []byte(f.raw), nil
}

// Close closes the document behind the facts. Values read before stay valid.
func (f *Facts) Close() {
	if f.document != nil {
		f.document.Close()
	}
}

func (f *Facts) proof() *Document { return f.document }
