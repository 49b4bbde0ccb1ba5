package assay

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"

	"assay.example/bindings/go/internal/libassay"
)

// An Exchange is an exchange with the network or a store: while Done is false,
// carry out what the document says and pass its answer to Step. Made by
// Verifier.Exchange; Run drives one to its end.
//
// One goroutine at a time: a Step during another one answers ErrExchangeBusy.
// Nothing is kept beyond it; closing it at any time is allowed.
type Exchange struct {
	handle libassay.Handle

	stepping sync.Mutex // held during a step

	reading  sync.RWMutex // guards what follows
	document *Document
	done     bool
}

// Exchange starts an exchange with the network or a store (docs/exchanges.md).
//
// request has `operation` and the members of that operation: JSON in a string, []byte or
// json.RawMessage, or a value that is marshalled. evidence are facts or documents of
// this verifier (or one with the same configuration) that it is about.
//
// A kind that needs nothing carried out is Done at once, and a refused result is an
// answer: look at Document. The error is ErrMisuse for a request or evidence of the
// wrong form, ErrArgument for a value that is not JSON, ErrClosed, or the
// context's.
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

// A question is a request as the library takes it; its documents must outlive the call.
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

// answered is the document of an answer; misuse and what is the library's fault are errors.
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

// Document is the open step, or the result: what the last call answered.
func (x *Exchange) Document() *Document {
	x.reading.RLock()
	defer x.reading.RUnlock()
	return x.document
}

// Done says whether nothing is left to carry out: finished, refused or closed.
func (x *Exchange) Done() bool {
	x.reading.RLock()
	defer x.reading.RUnlock()
	return x.done || x.document == nil
}

// Payload is what the document says under its kind: `step`, `http` … Nil where
// it says nothing. fmt prints none of it: it may hold secrets.
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

// StepName is what the document asks for: "http", "database", "grant", "wait" or
// "done"; empty where it says nothing.
func (x *Exchange) StepName() string {
	var found struct {
		Step string `json:"step"`
	}
	if json.Unmarshal(x.Payload(), &found) != nil {
		return ""
	}
	return found.Step
}

// Step hands in the result of the last step, and learns the next step or the outcome.
//
// reply is of the form that the step asks for (docs/exchanges.md): JSON in a string,
// []byte or json.RawMessage, or a value that is marshalled.
//
// A refused result is an answer, not an error: look at the document. The error is
// ErrMisuse for a reply of the wrong form or to another step, after which the step
// is still open; ErrExchangeOver when nothing is open; ErrExchangeBusy when another
// goroutine is in Step; ErrArgument for a value that is not JSON; the context's.
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

// took is what the library made of an answer.
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

// Close gives the exchange up; a step under way ends first. Documents stay
// valid. Closing twice is allowed.
func (x *Exchange) Close() {
	x.reading.Lock()
	x.done = true
	x.reading.Unlock()
	x.handle.Close()
	runtime.SetFinalizer(x, nil)
}

// A StepRunner carries out the open step of an exchange with the host's own client or
// store, and returns the result, as the step's `state` asks for it. An error from it
// ends Run.
type StepRunner func(ctx context.Context, exchange *Exchange) (answer any, err error)

// Run drives the exchange to its end: runner carries out each step. Between steps it
// checks the context, and returns its error when it is done. The exchange is closed
// in any case.
//
// The document is the result, and the error is nil for a refused one too: take its
// Err.
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

// jsonText is the JSON text of a value; a string, []byte or json.RawMessage is one
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
