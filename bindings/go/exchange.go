package assay

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"

	"assay.example/bindings/go/internal/libassay"
)

// An Exchange is one run of an operation that needs the network or the database. While Done is
// false, run the step of its document and pass the reply to Step. Verifier.Exchange makes one;
// Run drives it to its end.
//
// Only one goroutine may step it at a time: a Step during another one returns ErrExchangeBusy.
// Closing an exchange at any time is allowed.
type Exchange struct {
	handle libassay.Handle

	stepping sync.Mutex // held during a step

	reading  sync.RWMutex // guards document and done
	document *Document
	done     bool
}

// Exchange starts an exchange (docs/exchanges.md).
//
// request has `operation` and the members of that operation: JSON in a string, []byte or
// json.RawMessage, or a value that is marshalled. evidence is the facts or documents that the
// operation is about, of this verifier or of one with the same configuration.
//
// An operation that needs no step is Done at once, and a refused result is not an error: read
// Document. The error is ErrMisuse for a request or evidence of the wrong form, ErrArgument
// for a value that is not JSON, ErrClosed, or the context's.
func (v *Verifier) Exchange(
	ctx context.Context, request any, evidence []Evidence, options ...Option,
) (*Exchange, error) {
	asked, err := v.asked(ctx, request, evidence, options)
	if err != nil {
		return nil, err
	}
	answer, made, closed := libassay.NewExchange(
		&v.handle, asked.text, asked.handles, asked.now)
	runtime.KeepAlive(asked.documents)
	exchange := new(Exchange)
	if !made.Empty() {
		exchange.handle.Hold(made)
		runtime.SetFinalizer(exchange, (*Exchange).finalize)
	}
	document, err := v.answered(answer, closed)
	if err != nil {
		exchange.Close()
		return nil, err
	}
	exchange.document = document
	if made.Empty() || document.status.Family() != ErrPending {
		exchange.Close()
	}
	return exchange, nil
}

// A question is a request in the library's form; its documents must outlive the call.
type question struct {
	text      libassay.Text
	documents []*Document
	handles   []*libassay.Handle
	now       int64
}

func (v *Verifier) asked(
	ctx context.Context, request any, evidence []Evidence, options []Option,
) (question, error) {
	chosen, err := begun(ctx, options, 0)
	if err != nil {
		return question{}, err
	}
	text, err := jsonText(request, "request")
	if err != nil {
		return question{}, err
	}
	documents, handles, err := documentsOf(evidence)
	return question{libassay.Given(text), documents, handles, chosen.now}, err
}

// answered returns the document of a call; misuse and faults of the library are errors.
func (v *Verifier) answered(answer libassay.Answer, closed libassay.Closed) (*Document, error) {
	if closed == libassay.EvidenceClosed {
		return nil, fmt.Errorf("%w: evidence", ErrClosed)
	}
	document, err := v.own(answer, closed == libassay.NoneClosed)
	if err == nil {
		err = document.ours()
	}
	if err != nil {
		return nil, err
	}
	return document, nil
}

func (x *Exchange) finalize() { x.handle.Close() }

// Document returns the open step, or the result: the document of the last call.
func (x *Exchange) Document() *Document {
	x.reading.RLock()
	defer x.reading.RUnlock()
	return x.document
}

// Done reports whether no step is open: the exchange is finished, refused or closed.
func (x *Exchange) Done() bool {
	x.reading.RLock()
	defer x.reading.RUnlock()
	return x.done || x.document == nil
}

// Payload returns the member that is named as the document's kind, with `step`, `http` … Nil
// if there is none. fmt prints nothing of it, because it may contain secrets.
func (x *Exchange) Payload() Payload {
	document := x.Document()
	if document == nil {
		return nil
	}
	s := scanner{text: document.json}
	if !s.seek(string(document.Kind())) || s.null() {
		return nil
	}
	text, _ := s.value()
	return Payload(text)
}

// StepName returns the name of the open step: "http", "database", "grant" or "wait"; "done" if
// none is open; empty if the document has no step.
func (x *Exchange) StepName() string {
	var found struct {
		Step string `json:"step"`
	}
	if json.Unmarshal(x.Payload(), &found) != nil {
		return ""
	}
	return found.Step
}

// Step passes the reply to the open step, and returns the next step or the result.
//
// reply has the form that the step requires (docs/exchanges.md): JSON in a string, []byte or
// json.RawMessage, or a value that is marshalled.
//
// A refused result is not an error: read the document. The error is ErrMisuse for a reply of
// the wrong form or to another step, after which the step is still open; ErrExchangeOver if no
// step is open; ErrExchangeBusy if another goroutine is in Step; ErrArgument for a value that
// is not JSON; or the context's.
func (x *Exchange) Step(ctx context.Context, reply any, options ...Option) (*Document, error) {
	chosen, err := begun(ctx, options, 0)
	if err != nil {
		return nil, err
	}
	text, err := jsonText(reply, "reply")
	if err != nil {
		return nil, err
	}
	if !x.stepping.TryLock() {
		return nil, ErrExchangeBusy
	}
	defer x.stepping.Unlock()
	if x.Done() {
		return nil, ErrExchangeOver
	}
	found, open := libassay.StepExchange(&x.handle, libassay.Given(text), chosen.now)
	runtime.KeepAlive(x)
	if !open {
		return nil, ErrExchangeOver
	}
	return x.took(found)
}

// took stores the document of a call as the current one.
func (x *Exchange) took(found libassay.Answer) (*Document, error) {
	document, err := answered(found)
	if err != nil {
		return nil, err
	}
	family := document.status.Family()
	if family == ErrMisuse {
		return nil, refusal(document)
	}
	x.reading.Lock()
	x.document = document
	x.reading.Unlock()
	if family != ErrPending {
		x.Close()
	}
	return document, document.ours()
}

// Close abandons the exchange, after a step that is still running. Documents stay valid.
// Closing twice is allowed.
func (x *Exchange) Close() {
	x.reading.Lock()
	x.done = true
	x.reading.Unlock()
	x.handle.Close()
	runtime.SetFinalizer(x, nil)
}

// A StepRunner runs the open step of an exchange with the host's own HTTP client or database,
// and returns the reply in the form that the step requires. An error from it ends Run.
type StepRunner func(ctx context.Context, exchange *Exchange) (answer any, err error)

// Run drives the exchange to its end: runner runs each step. Between steps it checks the
// context, and returns its error if it is done. Run closes the exchange in any case.
//
// The document is the result. The error is nil for a refused result too: read its Err.
func (x *Exchange) Run(ctx context.Context, runner StepRunner, options ...Option) (
	*Document, error,
) {
	defer x.Close()
	for !x.Done() {
		if _, err := begun(ctx, options, 0); err != nil {
			return nil, err
		}
		answer, err := runner(ctx, x)
		if err != nil {
			return nil, err
		}
		if _, err := x.Step(ctx, answer, options...); err != nil {
			return nil, err
		}
	}
	return x.Document(), nil
}

// jsonText returns the JSON text of a value; a string, []byte or json.RawMessage is one
// already.
func jsonText(value any, name string) (string, error) {
	switch given := value.(type) {
	case string:
		return given, nil
	case []byte:
		return string(given), nil
	case json.RawMessage:
		return string(given), nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("%w: %s: %v", ErrArgument, name, err)
	}
	return string(text), nil
}
