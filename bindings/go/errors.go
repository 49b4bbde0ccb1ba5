package assay

import (
	"errors"
	"strings"

	"assay.example/bindings/go/internal/libassay"
)

// An *Error matches exactly one of these families with errors.Is. Branch on the family; the
// rest is for logs and operators.
var (
	// ErrRejected: well formed, but not authentic, not for these apps, or not allowed.
	ErrRejected error = family("rejected")
	// ErrMalformed: not of the format that it should have.
	ErrMalformed error = family("malformed")
	// ErrUnsupported: an algorithm, version or kind that the library does not handle.
	ErrUnsupported error = family("unsupported")
	// ErrTooLarge: a limit of size, depth or count was exceeded.
	ErrTooLarge error = family("too-large")
	// ErrMisuse: the calling program broke a rule of the library.
	ErrMisuse error = family("misuse")
	// ErrConfig: the configuration is not usable; Place is the path of the member.
	ErrConfig error = family("config")
	// ErrUnavailable: a server or the database gave no usable response; retry.
	ErrUnavailable error = family("unavailable")
	// ErrInternal: a bug or a damaged build; nothing was trusted.
	ErrInternal error = family("internal")
	// ErrPending: nothing is decided yet; take the next step.
	ErrPending error = family("pending")
)

// Errors that this package returns itself, before it calls the library.
var (
	// ErrClosed: a verifier, a document or an exchange was used after its Close.
	ErrClosed = errors.New("assay: used after Close")
	// ErrExchangeOver: a reply for an exchange that has no open step.
	ErrExchangeOver = errors.New("assay: the exchange is over")
	// ErrExchangeBusy: a reply for an exchange in which another goroutine calls Step.
	ErrExchangeBusy = errors.New("assay: another goroutine is using this exchange")
	// ErrArgument: an argument that the call does not accept.
	ErrArgument = errors.New("assay: wrong argument")
	// ErrLibrary: this package cannot use the loaded library.
	ErrLibrary = errors.New("assay: the loaded libassay does not fit")
)

// A family is the error that all statuses of one family match.
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

// A Status is the outcome of a call: its family in the low 8 bits, the detail above. Zero
// means that every check passed.
type Status int32

// OK reports whether every check passed. If not, trust nothing.
func (s Status) OK() bool { return s == libassay.OK }

// Family returns the error of the status's family; nil for OK.
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

// String returns the name of the status: "ok", "rejected.chain.untrusted-root".
func (s Status) String() string { return libassay.StatusNameOf(int32(s)) }

// HTTPStatus returns the HTTP status with which a back end answers its own client, as the
// library defines it: 400, 403, 409, 413, 500 … It is 500 for a fault of the configuration or
// of the program, and 200 for OK.
func (s Status) HTTPStatus() int { return libassay.StatusHTTP(int32(s)) }

// Statuses that this package compares with.
const (
	notEntitled = "rejected.decision.not-entitled"
	internalBug = "internal.assay.bug"
)

// statusNamed returns the status of a name; the one for a bug if the library has no such name.
func statusNamed(name string) Status {
	for s := Status(libassay.StatusNext(0)); !s.OK(); s = Status(libassay.StatusNext(int32(s))) {
		if s.String() == name {
			return s
		}
	}
	return Status(libassay.Internal)
}

// Refusal returns the error of a status that a package of this module found itself. A message
// that is not empty replaces the library's.
func Refusal(name, message string) *Error {
	found := refusalOf(statusNamed(name))
	if message != "" {
		found.Message = message
	}
	return found
}

// A RetryClass is whether, and how, a retry can help.
type RetryClass string

// The classes of retries.
const (
	RetryNever            RetryClass = "never"
	RetryLater            RetryClass = "later"
	RetrySameOnce         RetryClass = "same-once"
	RetryOtherEnvironment RetryClass = "other-environment"
	RetryAfterConfig      RetryClass = "after-config"
)

// An Error is a refusal. Trust nothing of the input that the call was given.
type Error struct {
	// Status is the outcome, and Name its name: "rejected.chain.untrusted-root".
	Status Status
	Name   string
	// Message describes what is wrong; it has no secret and no personal identifier.
	Message string
	// Check is the id of the failed check, "chain.root"; empty if there is none.
	Check string
	// Rule is the rule of the specification, "JWS-20"; empty if there is none.
	Rule string
	// Place is the location: a member path, "x5c[2]", a byte offset; empty if there is none.
	Place string
	// Hint is what the operator should do.
	Hint string
	// RetryClass is whether, and how, a retry can help.
	RetryClass RetryClass
	// HTTPStatus is the status with which a back end answers its own client.
	HTTPStatus int
	// Document is the whole result, with every check made; nil if the call made none.
	Document *Document
}

// Error returns status, message, rule, location and hint on one line.
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

// Is reports whether target is the family of this refusal.
func (e *Error) Is(target error) bool { return target == e.Status.Family() }

// refusal returns the error of a document that was refused.
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

// refusalOf returns the error of a status without a document.
func refusalOf(status Status) *Error {
	text := func(what int32) string { return libassay.StatusText(int32(status), what) }
	found := &Error{
		Status: status, Name: status.String(), Message: text(libassay.StatusMessage),
		Hint: text(libassay.StatusHint), RetryClass: RetryClass(text(libassay.StatusRetry)),
		HTTPStatus: status.HTTPStatus(),
	}
	if found.RetryClass == "" { // a status that the library does not have
		found.RetryClass = RetryNever
	}
	return found
}
