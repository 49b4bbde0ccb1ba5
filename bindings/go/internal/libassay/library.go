package libassay

/*
#include <assay.h>

// A document with its JSON: one call from Go instead of two.
typedef struct {
  assay_doc *doc;
  const char *json;
  size_t json_len;
  assay_status status;
} answer;

// The same with the object that the call made.
typedef struct {
  answer answer;
  void *made;
} made;

static answer answered(assay_status status, assay_doc *doc) {
  answer out = {doc, NULL, 0, status};
  out.json = assay_doc_json(doc, &out.json_len);
  return out;
}

// Each call as Go makes it: NAME, how the C function is called, and the parameters.
#define ANSWER(name, call, ...)              \
  static answer go_##name(__VA_ARGS__) {     \
    assay_doc *doc = NULL;                   \
    assay_status status = call;              \
    return answered(status, doc);            \
  }

#define MADE(name, type, call, ...)          \
  static made go_##name(__VA_ARGS__) {       \
    type *object = NULL;                     \
    assay_doc *doc = NULL;                   \
    assay_status status = call;              \
    made out = {answered(status, doc), object}; \
    return out;                              \
  }

MADE(verifier_new, assay_verifier,
     assay_verifier_new(config, config_len, &object, &doc),
     const char *config, size_t config_len)
MADE(keyset_new, assay_keyset,
     assay_keyset_new(jwks, jwks_len, &object, &doc),
     const char *jwks, size_t jwks_len)
MADE(exchange_new, assay_exchange,
     assay_exchange_new(verifier, request, request_len, evidence, count, now_ms,
                        &object, &doc),
     const assay_verifier *verifier, const char *request, size_t request_len,
     const assay_doc *const *evidence, size_t count, int64_t now_ms)
ANSWER(call,
       assay_call(verifier, request, request_len, evidence, count, now_ms, &doc),
       const assay_verifier *verifier, const char *request, size_t request_len,
       const assay_doc *const *evidence, size_t count, int64_t now_ms)
ANSWER(exchange_step,
       assay_exchange_step(exchange, text, text_len, now_ms, &doc),
       assay_exchange *exchange, const char *text, size_t text_len, int64_t now_ms)
ANSWER(verify_jws,
       assay_verify_jws(verifier, kind, jws, jws_len, now_ms, &doc),
       const assay_verifier *verifier, int32_t kind, const char *jws,
       size_t jws_len, int64_t now_ms)
ANSWER(verify_receipt,
       assay_verify_receipt(verifier, kind, receipt, receipt_len, subject,
                            subject_len, now_ms, &doc),
       const assay_verifier *verifier, int32_t kind, const char *receipt,
       size_t receipt_len, const char *subject, size_t subject_len, int64_t now_ms)
ANSWER(triage,
       assay_triage(verifier, blob, blob_len, now_ms, &doc),
       const assay_verifier *verifier, const char *blob, size_t blob_len, int64_t now_ms)
ANSWER(read_verify_receipt_response,
       assay_read_verify_receipt_response(verifier, body, body_len, now_ms, &doc),
       const assay_verifier *verifier, const char *body, size_t body_len, int64_t now_ms)
ANSWER(verify_attestation,
       assay_verify_attestation(verifier, attestation, attestation_len, key_id,
                                key_id_len, data_kind, data, data_len, now_ms, &doc),
       const assay_verifier *verifier, const char *attestation, size_t attestation_len,
       const char *key_id, size_t key_id_len, int32_t data_kind, const char *data,
       size_t data_len, int64_t now_ms)
ANSWER(verify_assertion,
       assay_verify_assertion(verifier, assertion, assertion_len, key, key_len,
                              counter, data_kind, data, data_len, now_ms, &doc),
       const assay_verifier *verifier, const char *assertion, size_t assertion_len,
       const char *key, size_t key_len, uint32_t counter, int32_t data_kind,
       const char *data, size_t data_len, int64_t now_ms)
ANSWER(verify_token,
       assay_verify_token(verifier, keys, token, token_len, now_ms, &doc),
       const assay_verifier *verifier, const assay_keyset *keys, const char *token,
       size_t token_len, int64_t now_ms)
ANSWER(decide,
       assay_decide(verifier, evidence, count, account, account_len, now_ms, &doc),
       const assay_verifier *verifier, const assay_doc *const *evidence, size_t count,
       const char *account, size_t account_len, int64_t now_ms)
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// An Answer is the result of a call: its status, its document and a copy of the document's
// JSON.
type Answer struct {
	Status   int32
	JSON     string
	Document Object
}

// Text is an input of the library: a pointer that may be absent. The library does not keep it
// after the call.
type Text struct {
	text  string
	given bool
}

// Given returns a text that is present, even if empty.
func Given(text string) Text { return Text{text, true} }

// GivenBytes returns a text of bytes, which must not change during the call.
func GivenBytes(octets []byte) Text {
	return Text{*(*string)(unsafe.Pointer(&octets)), true}
}

// nothing is what an empty text points to: it is present, and has no bytes.
var nothing = "\x00"

// pointer returns the address of the first byte; nil if the text is absent.
func (t Text) pointer() *C.char {
	if !t.given {
		return nil
	}
	text := t.text
	if text == "" {
		text = nothing
	}
	return *(**C.char)(unsafe.Pointer(&text))
}

func (t Text) length() C.size_t { return C.size_t(len(t.text)) }

func freeDocument(p unsafe.Pointer) { C.assay_doc_free((*C.assay_doc)(p)) }
func freeVerifier(p unsafe.Pointer) { C.assay_verifier_free((*C.assay_verifier)(p)) }
func freeKeyset(p unsafe.Pointer)   { C.assay_keyset_free((*C.assay_keyset)(p)) }
func freeExchange(p unsafe.Pointer) { C.assay_exchange_free((*C.assay_exchange)(p)) }

func answered(found C.answer) Answer {
	answer := Answer{Status: int32(found.status)}
	if found.json != nil {
		answer.JSON = copied(found.json, found.json_len)
	}
	if found.doc != nil {
		answer.Document = Object{unsafe.Pointer(found.doc), freeDocument}
	}
	return answer
}

// copied returns Go's own copy of a text of the library.
func copied(text *C.char, length C.size_t) string {
	return string(unsafe.Slice((*byte)(unsafe.Pointer(text)), int(length)))
}

// VersionNumber returns the version of the loaded library as a number.
func VersionNumber() uint32 { return uint32(C.assay_version_number()) }

// Version returns the version of the loaded library as text.
func Version() string { return C.GoString(C.assay_version()) }

// BuildInfo returns JSON about the loaded library.
func BuildInfo() string { return C.GoString(C.assay_build_info()) }

// StatusNameOf returns the name of a status.
func StatusNameOf(status int32) string {
	return C.GoString(C.assay_status_name(C.assay_status(status)))
}

// StatusText returns a text about a status: StatusMessage, StatusHint or StatusRetry.
func StatusText(status, what int32) string {
	return C.GoString(C.assay_status_text(C.assay_status(status), C.int32_t(what)))
}

// StatusHTTP returns the HTTP status with which a back end answers its own client.
func StatusHTTP(status int32) int { return int(C.assay_status_http(C.assay_status(status))) }

// StatusNext returns the status after this one; 0 after the last.
func StatusNext(status int32) int32 { return int32(C.assay_status_next(C.assay_status(status))) }

// CheckExpiry checks stored dates, in milliseconds since 1970 UTC; NoDate for no date.
func CheckExpiry(expires, grace, revoked, now int64) int32 {
	return int32(C.assay_check_expiry(
		C.int64_t(expires), C.int64_t(grace), C.int64_t(revoked), C.int64_t(now)))
}

// NewVerifier makes a verifier; the object is empty if the configuration was refused.
func NewVerifier(config Text) (Answer, Object) {
	found := C.go_verifier_new(config.pointer(), config.length())
	runtime.KeepAlive(config)
	return answered(found.answer), newObject(found.made, freeVerifier)
}

// newObject returns an object; an empty one for nil.
func newObject(pointer unsafe.Pointer, free func(unsafe.Pointer)) Object {
	if pointer == nil {
		return Object{}
	}
	return Object{pointer, free}
}

// called makes a call with a handle and keeps its texts alive; false if the handle is closed.
func called(h *Handle, call func(unsafe.Pointer) C.answer, texts ...Text) (Answer, bool) {
	pointer := h.use()
	if pointer == nil {
		return Answer{}, false
	}
	found := call(pointer)
	runtime.KeepAlive(texts)
	h.done()
	return answered(found), true
}

// VerifyJWS verifies one JWS; false if the verifier is closed, as in all functions below.
func VerifyJWS(v *Handle, kind int32, jws Text, now int64) (Answer, bool) {
	return called(v, func(p unsafe.Pointer) C.answer {
		return C.go_verify_jws(
			(*C.assay_verifier)(p), C.int32_t(kind), jws.pointer(), jws.length(), C.int64_t(now))
	}, jws)
}

// VerifyReceipt verifies one receipt.
func VerifyReceipt(v *Handle, kind int32, receipt, subject Text, now int64) (Answer, bool) {
	return called(v, func(p unsafe.Pointer) C.answer {
		return C.go_verify_receipt((*C.assay_verifier)(p), C.int32_t(kind), receipt.pointer(),
			receipt.length(), subject.pointer(), subject.length(), C.int64_t(now))
	}, receipt, subject)
}

// Triage classifies an untrusted blob.
func Triage(v *Handle, blob Text, now int64) (Answer, bool) {
	return called(v, func(p unsafe.Pointer) C.answer {
		return C.go_triage((*C.assay_verifier)(p), blob.pointer(), blob.length(),
			C.int64_t(now))
	}, blob)
}

// ReadVerifyReceiptResponse decodes a response of Apple's verifyReceipt endpoint.
func ReadVerifyReceiptResponse(v *Handle, body Text, now int64) (Answer, bool) {
	return called(v, func(p unsafe.Pointer) C.answer {
		return C.go_read_verify_receipt_response(
			(*C.assay_verifier)(p), body.pointer(), body.length(), C.int64_t(now))
	}, body)
}

// VerifyAttestation verifies an App Attest attestation.
func VerifyAttestation(
	v *Handle, attestation, keyID Text, dataKind int32, data Text, now int64,
) (Answer, bool) {
	return called(v, func(p unsafe.Pointer) C.answer {
		return C.go_verify_attestation((*C.assay_verifier)(p), attestation.pointer(),
			attestation.length(), keyID.pointer(), keyID.length(), C.int32_t(dataKind),
			data.pointer(), data.length(), C.int64_t(now))
	}, attestation, keyID, data)
}

// VerifyAssertion verifies an App Attest assertion.
func VerifyAssertion(
	v *Handle, assertion, key Text, counter uint32, dataKind int32, data Text, now int64,
) (Answer, bool) {
	return called(v, func(p unsafe.Pointer) C.answer {
		return C.go_verify_assertion((*C.assay_verifier)(p), assertion.pointer(),
			assertion.length(), key.pointer(), key.length(), C.uint32_t(counter),
			C.int32_t(dataKind), data.pointer(), data.length(), C.int64_t(now))
	}, assertion, key, data)
}

// NewKeyset decodes a key set; the object is empty if the key set was refused.
func NewKeyset(jwks Text) (Answer, Object) {
	found := C.go_keyset_new(jwks.pointer(), jwks.length())
	runtime.KeepAlive(jwks)
	return answered(found.answer), newObject(found.made, freeKeyset)
}

// VerifyToken verifies an access token; false if the verifier or the key set is closed.
func VerifyToken(v, keys *Handle, token Text, now int64) (Answer, bool) {
	pointer := v.use()
	if pointer == nil {
		return Answer{}, false
	}
	defer v.done()
	set := keys.use()
	if set == nil {
		return Answer{}, false
	}
	found := C.go_verify_token((*C.assay_verifier)(pointer), (*C.assay_keyset)(set),
		token.pointer(), token.length(), C.int64_t(now))
	runtime.KeepAlive(token)
	keys.done()
	return answered(found), true
}

// Closed is which handle of a call was closed; NoneClosed if the call was made.
type Closed int

// The handles that can be closed.
const (
	NoneClosed Closed = iota
	VerifierClosed
	EvidenceClosed
)

// documents are handles of evidence that one call uses.
type documents struct {
	handles  []*Handle
	pointers []*C.assay_doc
}

// useDocuments begins a use of each handle; false, without any use, if one is closed.
func useDocuments(handles []*Handle) (documents, bool) {
	used := documents{pointers: make([]*C.assay_doc, 0, len(handles))}
	for at, handle := range handles {
		pointer := handle.use()
		if pointer == nil {
			used.done()
			return documents{}, false
		}
		used.handles = handles[:at+1]
		used.pointers = append(used.pointers, (*C.assay_doc)(pointer))
	}
	return used, true
}

func (d documents) first() **C.assay_doc {
	if len(d.pointers) == 0 {
		return nil
	}
	return &d.pointers[0]
}

func (d documents) done() {
	for _, handle := range d.handles {
		handle.done()
	}
}

// Decide makes a decision from documents.
func Decide(v *Handle, evidence []*Handle, account Text, now int64) (Answer, Closed) {
	pointer := v.use()
	if pointer == nil {
		return Answer{}, VerifierClosed
	}
	defer v.done()
	used, open := useDocuments(evidence)
	if !open {
		return Answer{}, EvidenceClosed
	}
	defer used.done()
	found := C.go_decide((*C.assay_verifier)(pointer), used.first(), C.size_t(len(used.pointers)),
		account.pointer(), account.length(), C.int64_t(now))
	runtime.KeepAlive(account)
	return answered(found), NoneClosed
}

// NewExchange starts an exchange; the object is empty if the exchange needs no step.
func NewExchange(v *Handle, request Text, evidence []*Handle, now int64) (
	Answer, Object, Closed,
) {
	pointer := v.use()
	if pointer == nil {
		return Answer{}, Object{}, VerifierClosed
	}
	defer v.done()
	used, open := useDocuments(evidence)
	if !open {
		return Answer{}, Object{}, EvidenceClosed
	}
	defer used.done()
	found := C.go_exchange_new((*C.assay_verifier)(pointer), request.pointer(), request.length(),
		used.first(), C.size_t(len(used.pointers)), C.int64_t(now))
	runtime.KeepAlive(request)
	return answered(found.answer), newObject(found.made, freeExchange), NoneClosed
}

// Call runs an operation that needs no step.
func Call(v *Handle, request Text, evidence []*Handle, now int64) (Answer, Closed) {
	pointer := v.use()
	if pointer == nil {
		return Answer{}, VerifierClosed
	}
	defer v.done()
	used, open := useDocuments(evidence)
	if !open {
		return Answer{}, EvidenceClosed
	}
	defer used.done()
	found := C.go_call((*C.assay_verifier)(pointer), request.pointer(), request.length(),
		used.first(), C.size_t(len(used.pointers)), C.int64_t(now))
	runtime.KeepAlive(request)
	return answered(found), NoneClosed
}

// StepExchange passes the reply to the open step; only one goroutine at a time.
func StepExchange(x *Handle, text Text, now int64) (Answer, bool) {
	return called(x, func(p unsafe.Pointer) C.answer {
		return C.go_exchange_step(
			(*C.assay_exchange)(p), text.pointer(), text.length(), C.int64_t(now))
	}, text)
}

// DocumentStatus returns the status of the call that made a document.
func DocumentStatus(d *Handle) (int32, bool) {
	pointer := d.use()
	if pointer == nil {
		return 0, false
	}
	status := C.assay_doc_status((*C.assay_doc)(pointer))
	d.done()
	return int32(status), true
}

// DocumentText returns one member of a document as text; found is false if the member is
// absent or not text.
func DocumentText(d *Handle, path string) (text string, found, open bool) {
	pointer := d.use()
	if pointer == nil {
		return "", false, false
	}
	given := Given(path)
	var length C.size_t
	at := C.assay_doc_text(
		(*C.assay_doc)(pointer), given.pointer(), given.length(), &length)
	if at != nil {
		text, found = copied(at, length), true
	}
	runtime.KeepAlive(path)
	d.done()
	return text, found, true
}

// DocumentInteger returns one member of a document as an integer; found is false if the member
// is absent or not an integer.
func DocumentInteger(d *Handle, path string) (value int64, found, open bool) {
	pointer := d.use()
	if pointer == nil {
		return 0, false, false
	}
	given := Given(path)
	// An integer that exists cannot be equal to two different fallbacks.
	ask := func(fallback int64) int64 {
		return int64(C.assay_doc_integer((*C.assay_doc)(pointer), given.pointer(),
			given.length(), C.int64_t(fallback)))
	}
	value = ask(0)
	found = value != 0 || ask(1) == 0
	runtime.KeepAlive(path)
	d.done()
	return value, found, true
}
