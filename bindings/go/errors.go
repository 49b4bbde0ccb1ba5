package assay

import (
	"errors"
	"strings"

	"assay.example/bindings/go/internal/libassay"
)

// A refusal is an *Error and, by errors.Is, one of these families. Branch on the
// family; the rest is for logs and operators.
var (
	// Well formed, but not authentic, not for us, or not allowed.
	ErrRejected error = family("rejected")
	// Not the format it claims to be.
	ErrMalformed error = family("malformed")
	// Algorithm, version or kind not handled.
	ErrUnsupported error = family("unsupported")
	// A size, depth or count limit was exceeded.
	ErrTooLarge error = family("too-large")
	// The calling program broke a rule of the library.
	ErrMisuse error = family("misuse")
	// The configuration is not usable; Place has the path of the member.
	ErrConfig error = family("config")
	// The other side gave no usable answer: retry.
	ErrUnavailable error = family("unavailable")
	// A bug or a damaged build; nothing was trusted.
	ErrInternal error = family("internal")
	// Nothing is decided yet: take the next step.
	ErrPending error = family("pending")
)

// What this package refuses itself, before the library is called.
var (
	// A verifier, a document or an exchange was used after its Close.
	ErrClosed = errors.New("assay: used after Close")
	// A step for an exchange in which nothing is open any more.
	ErrExchangeOver = errors.New("assay: the exchange is over")
	// A step for an exchange that another goroutine is stepping.
	ErrExchangeBusy = errors.New("assay: another goroutine is using this exchange")
	// An argument that the call does not take.
	ErrArgument = errors.New("assay: wrong argument")
	// The loaded library is not one that this package can use.
	ErrLibrary = errors.New("assay: the loaded libassay does not fit")
)

// family is an error that stands for all statuses of one family.
type family string

func (f family) Error() string { return "assay: " + string(f) }

var families = map[int32]error{
	libassay.Rejected:    ErrRejected,
	libassay.Malformed:   ErrMalformed,
	libassay.Unsupported: ErrUnsupported,
	libassay.TooLarge:    ErrTooLarge,
	libassay.Misuse:      ErrMisuse,
	libassay.Config:      ErrConfig,
	libassay.Unavailable: ErrUnavailable,
	libassay.Internal:    ErrInternal,
	libassay.Pending:     ErrPending,
}

// A Status is the outcome of a call: a family in the low 8 bits, detail above.
// Zero means: verified, every check passed.
type Status int32

// OK says whether every check passed. Anything else: do not trust.
func (s Status) OK() bool { return s == libassay.OK }

// Family is the error that stands for the family, nil for OK.
func (s Status) Family() error {
	if s.OK() {
		return nil
	}
	if found, known := families[s.family()]; known {
		return found
	}
	return ErrInternal
}

func (s Status) family() int32 { return int32(s) & 0xff }

// String is the name of the status: "ok", "rejected.chain.untrusted-root".
func (s Status) String() string { return libassay.StatusNameOf(int32(s)) }

// HTTPStatus is what a back end would answer its own client: 400, 403, 409, 413,
// 500 …, as the library says. A fault of the configuration or of the program
// counts as 500; it is 200 for OK.
func (s Status) HTTPStatus() int { return libassay.StatusHTTP(int32(s)) }

// What this package itself looks for.
const (
	notEntitled = "rejected.decision.not-entitled"
	internalBug = "internal.assay.bug"
)

// statusNamed is the status of a name; one of no detail where the library has none.
func statusNamed(name string) Status {
	for s := Status(libassay.StatusNext(0)); !s.OK(); s = Status(libassay.StatusNext(int32(s))) {
		if s.String() == name {
			return s
		}
	}
	return Status(libassay.Internal)
}

// Refusal is the error of a status that a package of this module finds itself; message, unless
// it is empty, in place of the library's.
func Refusal(name, message string) *Error {
	found := refusalOf(statusNamed(name))
	if message != "" {
		found.Message = message
	}
	return found
}

// A RetryClass says whether trying again can help.
type RetryClass string

// When trying again can help.
const (
	RetryNever            RetryClass = "never"
	RetryLater            RetryClass = "later"
	RetrySameOnce         RetryClass = "same-once"
	RetryOtherEnvironment RetryClass = "other-environment"
	RetryAfterConfig      RetryClass = "after-config"
)

// An Error is a refusal. Nothing that the call was given may be trusted.
type Error struct {
	// The status, and its name: "rejected.chain.untrusted-root".
	Status Status
	Name   string
	// What is wrong; holds no secret and no personal identifier.
	Message string
	// The check that failed, "chain.root"; empty where there is none.
	Check string
	// The rule of the specification, "JWS-20"; empty where there is none.
	Rule string
	// The place: a member path, "x5c[2]", a byte offset; empty where there is none.
	Place string
	// What the operator should do.
	Hint string
	// Whether trying again can help.
	RetryClass RetryClass
	// What a back end would answer its own client.
	HTTPStatus int
	// The whole answer, with every check made; nil where a call has none.
	Document *Document
}

// Error has status, message, rule, place and hint on one line.
func (e *Error) Error() string {
	var line strings.Builder
	line.WriteString("assay: " + e.Name)
	if e.Message != "" {
		line.WriteString(": " + e.Message)
	}
	place := e.Rule
	if e.Place != "" {
		if place != "" {
			place += ", "
		}
		place += "at " + e.Place
	}
	if place != "" {
		line.WriteString(" (" + place + ")")
	}
	if e.Hint != "" {
		line.WriteString("; hint: " + e.Hint)
	}
	return line.String()
}

// Is says whether target stands for the family of this refusal.
func (e *Error) Is(target error) bool { return target == e.Status.Family() }

// refusal is the error of a document that was refused.
func refusal(document *Document) *Error {
	found := refusalOf(document.status)
	found.Document = document
	var said struct {
		Message    string     `json:"message"`
		Check      string     `json:"check"`
		Rule       string     `json:"rule"`
		At         string     `json:"at"`
		Hint       string     `json:"hint"`
		RetryClass RetryClass `json:"retryClass"`
	}
	if there, err := factsAt(document, &said, "error"); there && err == nil {
		found.Message, found.Check, found.Rule = said.Message, said.Check, said.Rule
		found.Place, found.Hint, found.RetryClass = said.At, said.Hint, said.RetryClass
	}
	return found
}

// refusalOf is the error of a status that came without a document.
func refusalOf(status Status) *Error {
	text := func(what int32) string { return libassay.StatusText(int32(status), what) }
	found := &Error{
		Status: status, Name: status.String(), Message: text(libassay.StatusMessage),
		Hint: text(libassay.StatusHint), RetryClass: RetryClass(text(libassay.StatusRetry)),
		HTTPStatus: status.HTTPStatus(),
	}
	if found.RetryClass == "" { // of a code that the library does not have
		found.RetryClass = RetryNever
	}
	return found
}
