package assay

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"runtime"

	"assay.example/bindings/go/internal/libassay"
)

// A Document is one answer of the library: immutable, made by a Verifier only.
//
// It is proof of what it says: Decide takes documents, or the facts made from
// them, and never JSON. Keep the signed text in your store, not documents, and
// verify it again. It stays valid after its verifier was closed, and may be used
// by many goroutines at once.
//
// The library's memory behind it is freed when nothing refers to it any
// more, or at Close.
type Document struct {
	handle libassay.Handle
	json   string
	status Status
}

// answered is the document of an answer; an error when a call made none.
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

// Close frees the library's memory now. What was read stays, and so does
// JSON; Decide, Text and Integer then answer ErrClosed. Closing twice is allowed,
// also while other goroutines use the document.
func (d *Document) Close() {
	d.handle.Close()
	runtime.SetFinalizer(d, nil)
}

// Status is the outcome of the call that made the document.
func (d *Document) Status() Status { return d.status }

// OK says that every check passed. Anything else: do not trust.
func (d *Document) OK() bool { return d.status.OK() }

// Err is nil when every check passed, else the *Error.
func (d *Document) Err() error {
	if d.OK() {
		return nil
	}
	return refusal(d)
}

// JSON is the whole document as the library wrote it.
func (d *Document) JSON() string { return d.json }

// String is the kind and the status, never what stands in the document: a step may
// hold secrets (EXC-22).
func (d *Document) String() string { return string(d.Kind()) + ": " + d.status.String() }

// Format prints the same for every verb.
func (d *Document) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, d.String()) }

// Raw is a copy of the same for encoding/json.
func (d *Document) Raw() json.RawMessage { return json.RawMessage(d.json) }

// MarshalJSON gives the document as the library wrote it.
func (d *Document) MarshalJSON() ([]byte, error) { return []byte(d.json), nil }

// Kind is what was asked: "transaction", "decision", "configuration" …
func (d *Document) Kind() Kind {
	var kind string
	s := scanner{text: d.json}
	if s.seek("kind") {
		kind, _ = s.str()
	}
	return Kind(kind)
}

// envelope is what the documents of all kinds have in common.
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

// Checks are all checks of this kind of evidence, in the order of work.
func (d *Document) Checks() []Check { return d.envelope().Checks }

// Warnings are what did not lead to a refusal, but should be looked at.
func (d *Document) Warnings() []Warning { return d.envelope().Warnings }

// Text asks the library for one member as text, by dotted path:
// "transaction.productId". It is not found when it is absent or not text.
func (d *Document) Text(path string) (text string, found bool, err error) {
	text, found, open := libassay.DocumentText(&d.handle, path)
	runtime.KeepAlive(d)
	if !open {
		return "", false, ErrClosed
	}
	return text, found, nil
}

// Integer asks the library for one member as integer, by dotted path:
// "transaction.expiresDate". It is not found when it is absent or not an integer.
func (d *Document) Integer(path string) (value int64, found bool, err error) {
	value, found, open := libassay.DocumentInteger(&d.handle, path)
	runtime.KeepAlive(d)
	if !open {
		return 0, false, ErrClosed
	}
	return value, found, nil
}

// Facts are the typed facts: *Transaction, *AppReceipt, *Decision, *Triage …
//
// Nil after a refusal, but for a decision that says no, a triage, a risk and an
// answer of DeviceCheck; nil for kinds that have no typed facts.
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

// unreadable is the error of a document that is not what it should be.
func (d *Document) unreadable() error {
	found := refusalOf(statusNamed(internalBug))
	found.Message, found.Document = errDocument.Error(), d
	return found
}

// Evidence is a Document, or facts made from one. Only this package makes them.
type Evidence interface {
	proof() *Document
}

func (d *Document) proof() *Document { return d }

// proofOf is the document behind evidence; nil for evidence without one.
func proofOf(evidence Evidence) *Document {
	value := reflect.ValueOf(evidence)
	if !value.IsValid() || value.Kind() == reflect.Ptr && value.IsNil() {
		return nil
	}
	return evidence.proof()
}

// Facts are what the facts of all kinds have in common: the document that proves
// them, and their JSON.
type Facts struct {
	document *Document
	raw      string
	payload  string
}

// Document is the whole answer: checks, warnings, JSON. Facts inside others have
// the outer one. Nil for facts that no verifier made.
func (f *Facts) Document() *Document { return f.document }

// Raw is a copy of the facts' JSON, with members that this version does not know.
func (f *Facts) Raw() json.RawMessage { return json.RawMessage(f.raw) }

// Payload is a copy of the signed JSON, byte for byte, with members that this
// version does not know. Empty for kinds of evidence that are not signed as JSON.
func (f *Facts) Payload() json.RawMessage { return json.RawMessage(f.payload) }

// MarshalJSON gives the facts as the library wrote them.
func (f *Facts) MarshalJSON() ([]byte, error) {
	if f.raw == "" {
		return []byte("null"), nil
	}
	return []byte(f.raw), nil
}

// Close closes the document behind the facts. What was read stays.
func (f *Facts) Close() {
	if f.document != nil {
		f.document.Close()
	}
}

func (f *Facts) proof() *Document { return f.document }
