package assay

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"

	"assay.example/bindings/go/internal/libassay"
)

// A Verifier has the pinned roots, apps, products and policy of one configuration, and
// remembers proven chains.
//
// Make one when the process starts and share it: goroutines may call every method at once. It
// is immutable; another policy needs another Verifier.
//
// A call whose context is done does not start, and returns the context's error. Once started
// it runs to its end, mostly within a millisecond.
type Verifier struct {
	handle   libassay.Handle
	document *Document
}

// NewVerifier makes a verifier from a configuration (docs/config.md): JSON in a string, []byte
// or json.RawMessage, or any other value, which is marshalled.
//
//	assay.NewVerifier(`{"apps":[{"bundleId":"com.example.app","appAppleId":1234567890}]}`)
//
// The error is ErrConfig for a configuration that is not usable, with the member's path in
// Place; ErrLibrary if this package cannot use the loaded library.
func NewVerifier(config any) (*Verifier, error) {
	if err := fitting(); err != nil {
		return nil, err
	}
	text, err := jsonText(config, "config")
	if err != nil {
		return nil, err
	}
	answer, made := libassay.NewVerifier(libassay.Given(text))
	verifier := new(Verifier)
	if !made.Empty() {
		verifier.handle.Hold(made)
		runtime.SetFinalizer(verifier, (*Verifier).finalize)
	}
	if verifier.document, err = answered(answer); err != nil {
		return nil, err
	}
	if err := verifier.document.Err(); err != nil {
		verifier.Close()
		return nil, err
	}
	return verifier, nil
}

// NewVerifierFromFile makes a verifier from a JSON configuration file. The error is that of
// os.ReadFile for a file that cannot be read, else that of NewVerifier.
func NewVerifierFromFile(path string) (*Verifier, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return NewVerifier(text)
}

func (v *Verifier) finalize() { v.handle.Close() }

// Close frees the verifier when the running calls have ended; it does not wait for them. Later
// calls return ErrClosed. Documents stay valid. Closing twice is allowed.
func (v *Verifier) Close() {
	v.handle.Close()
	runtime.SetFinalizer(v, nil)
}

// Document returns the document of kind "configuration", with its warnings.
func (v *Verifier) Document() *Document { return v.document }

// Configuration returns the configuration with every default filled in. Keys and secrets are
// replaced by true.
func (v *Verifier) Configuration() json.RawMessage {
	if v.document == nil {
		return nil
	}
	s := scanner{text: v.document.json}
	if !s.seek("configuration") {
		return nil
	}
	text, _ := s.value()
	return json.RawMessage(text)
}

// ---- signed by StoreKit ------------------------------------------------------

// VerifyTransaction verifies a signed transaction: a purchase, restore or renewal.
//
// jws is the compact JWS, without JSON around it and without a line end. The error is
// ErrRejected if it is not genuine, or not for this verifier's apps and environments;
// ErrMalformed, ErrUnsupported or ErrTooLarge if it is not a JWS of this kind; ErrMisuse for a
// time outside 2008 … 2100; ErrClosed after Close.
func (v *Verifier) VerifyTransaction(
	ctx context.Context, jws string, options ...Option,
) (*Transaction, error) {
	document, err := v.jws(ctx, libassay.JWSTransaction, libassay.Given(jws), options)
	return verified[Transaction](document, err, "transaction")
}

// VerifyRenewalInfo verifies a signed renewal info. Arguments and errors are those of
// VerifyTransaction.
func (v *Verifier) VerifyRenewalInfo(
	ctx context.Context, jws string, options ...Option,
) (*RenewalInfo, error) {
	document, err := v.jws(ctx, libassay.JWSRenewalInfo, libassay.Given(jws), options)
	return verified[RenewalInfo](document, err, "renewalInfo")
}

// VerifyNotification verifies a server notification and every JWS inside it, in
// one call.
//
// jws is the value of signedPayload of the request's body. Errors are those of
// VerifyTransaction.
func (v *Verifier) VerifyNotification(
	ctx context.Context, jws string, options ...Option,
) (*Notification, error) {
	document, err := v.jws(ctx, libassay.JWSNotification, libassay.Given(jws), options)
	return verified[Notification](document, err, "notification")
}

// VerifyAppTransaction verifies a signed app transaction. Arguments and errors are those of
// VerifyTransaction.
func (v *Verifier) VerifyAppTransaction(
	ctx context.Context, jws string, options ...Option,
) (*AppTransaction, error) {
	document, err := v.jws(ctx, libassay.JWSAppTransaction, libassay.Given(jws), options)
	return verified[AppTransaction](document, err, "appTransaction")
}

// VerifyRealtimeRequest verifies a realtime request of Retention Messaging.
//
// jws is the value of signedPayload of the request's body. Errors are those of
// VerifyTransaction.
func (v *Verifier) VerifyRealtimeRequest(
	ctx context.Context, jws string, options ...Option,
) (*RealtimeRequest, error) {
	document, err := v.jws(ctx, libassay.JWSRealtimeRequest, libassay.Given(jws), options)
	return verified[RealtimeRequest](document, err, "realtimeRequest")
}

// ---- receipts ----------------------------------------------------------------

// VerifyTransactionReceipt verifies a transaction receipt: the property list of iOS 3 to 6,
// with one purchase.
//
// receipt is what the app sent: base64 (once or twice, wrapped, URL-safe) or raw. The error is
// ErrRejected if it is not genuine, or not for this verifier's apps, products and
// environments. With RetryAfterConfig and rejected.product.unknown the catalogue does not know
// the product yet; the client must keep the receipt. Other errors are those of
// VerifyTransaction.
func (v *Verifier) VerifyTransactionReceipt(
	ctx context.Context, receipt []byte, options ...Option,
) (*TransactionReceipt, error) {
	document, err := v.receipt(ctx, libassay.ReceiptTransaction, receipt, options, 0)
	return verified[TransactionReceipt](document, err, "transactionReceipt")
}

// VerifyAppReceipt verifies an app receipt: all purchases of an app on one device.
//
// receipt is as in VerifyTransactionReceipt. The option Device names the device that the
// receipt must belong to; without it DeviceBound is false. The error is ErrRejected if the
// receipt is not genuine, not for this verifier's apps and environments, or of another device;
// ErrMisuse for a device id of the wrong length. Purchases of unknown products are not
// refused: their Known is false.
func (v *Verifier) VerifyAppReceipt(
	ctx context.Context, receipt []byte, options ...Option,
) (*AppReceipt, error) {
	document, err := v.receipt(ctx, libassay.ReceiptApp, receipt, options, optionDevice)
	return verified[AppReceipt](document, err, "appReceipt")
}

// ReadVerifyReceiptResponse decodes a response of Apple's verifyReceipt endpoint: the whole
// body of a response with HTTP status 200.
//
// Every response without facts is an error, whose RetryClass is one of RetryLater (no verdict:
// keep everything as it was and ask again), RetrySameOnce (the same endpoint again, once),
// RetryOtherEnvironment (the other endpoint, once), RetryAfterConfig, RetryNever.
func (v *Verifier) ReadVerifyReceiptResponse(
	ctx context.Context, body []byte, options ...Option,
) (*VerifyReceiptResponse, error) {
	document, err := v.answer(ctx, body, options)
	return verified[VerifyReceiptResponse](document, err, "verifyReceipt")
}

// ExtractUnverifiedTransactionID returns the transaction id in a receipt of any form, or in a
// JWS, to ask the App Store Server API about it. The id is not verified: never act on it
// without Apple's response.
//
// For an app receipt it is that of the first purchase; empty if the blob has none. Errors are
// those of Triage.
func (v *Verifier) ExtractUnverifiedTransactionID(
	ctx context.Context, blob []byte, options ...Option,
) (string, error) {
	found, err := v.Triage(ctx, blob, options...)
	if err != nil || found.Unverified == nil {
		return "", err
	}
	claimed := found.Unverified
	switch {
	case claimed.TransactionID != "":
		return claimed.TransactionID, nil
	case claimed.OriginalTransactionID != "":
		return claimed.OriginalTransactionID, nil
	case len(claimed.Keys) > 0:
		// A key is "Production/180000900000001".
		return strings.Split(claimed.Keys[0], "/")[1], nil
	}
	return "", nil
}

// Triage classifies an untrusted blob without cryptography: its format, whether it is of a
// configured app, and whether to verify it. blob is whatever the client sent for a purchase.
//
// No content of the blob is an error: WorthVerifying, Category and Disposition of the result
// determine how to continue. Claimed has its unverified content, which is no facts. The error
// is ErrMisuse for a time outside 2008 … 2100, or ErrClosed.
func (v *Verifier) Triage(
	ctx context.Context, blob []byte, options ...Option,
) (*Triage, error) {
	chosen, err := begun(ctx, options, 0)
	if err != nil {
		return nil, err
	}
	answer, open := libassay.Triage(&v.handle, libassay.GivenBytes(blob), chosen.now)
	document, err := v.own(answer, open)
	if err != nil {
		return nil, err
	}
	if err := document.ours(); err != nil {
		return nil, err
	}
	found, err := read[Triage](document, "triage")
	if err != nil {
		return nil, err
	}
	return found, found.finish()
}

// ---- any kind ----------------------------------------------------------------

// jwsKinds and receiptKinds map kinds of evidence to the library's numbers.
var (
	jwsKinds = map[Kind]int32{
		KindTransaction:     libassay.JWSTransaction,
		KindRenewalInfo:     libassay.JWSRenewalInfo,
		KindNotification:    libassay.JWSNotification,
		KindAppTransaction:  libassay.JWSAppTransaction,
		KindRealtimeRequest: libassay.JWSRealtimeRequest,
	}
	receiptKinds = map[Kind]int32{
		KindTransactionReceipt: libassay.ReceiptTransaction,
		KindAppReceipt:         libassay.ReceiptApp,
		KindAttestReceipt:      libassay.ReceiptAttest,
	}
)

// Verify verifies evidence of one kind, and returns the document on success and on refusal:
// check OK first, then read Facts, or use Err.
//
// kind is one of the kinds of a JWS or of a receipt, or KindVerifyReceiptResponse for a
// response of that endpoint; there is deliberately no "any". The error is ErrArgument for
// another kind or an option that the kind does not support, ErrClosed, or the context's.
func (v *Verifier) Verify(
	ctx context.Context, kind Kind, evidence []byte, options ...Option,
) (*Document, error) {
	if number, known := jwsKinds[kind]; known {
		return v.jws(ctx, number, libassay.GivenBytes(evidence), options)
	}
	if number, known := receiptKinds[kind]; known {
		return v.receipt(ctx, number, evidence, options, subjects[kind])
	}
	if kind == KindVerifyReceiptResponse {
		return v.answer(ctx, evidence, options)
	}
	return nil, fmt.Errorf("%w: %q is no kind of evidence", ErrArgument, kind)
}

// subjects are the options that name the subject of a receipt.
var subjects = map[Kind]optionKind{
	KindAppReceipt:    optionDevice,
	KindAttestReceipt: optionPublicKey,
}

// ---- decisions ---------------------------------------------------------------

// Decide computes plan, state and the time of the next check from verified evidence.
//
// evidence is facts or documents of this verifier, or of one with the same configuration: of
// JWS, receipts and verifyReceipt responses, in any mixture. A renewal info needs its
// transaction beside it. Facts nested in a notification count as the whole notification. The
// option Account sets the appAccountToken that the evidence must have; without it
// `decision.accountToken` of the configuration applies.
//
// Not entitled is a result, not an error: Entitled is then false, and State is the reason. The
// error is ErrRejected if the evidence is of another account, names none or is not sufficient;
// ErrMisuse if it was refused, is not evidence, or the account is not a UUID; ErrClosed if the
// verifier or a document was closed.
func (v *Verifier) Decide(
	ctx context.Context, evidence []Evidence, options ...Option,
) (*Decision, error) {
	chosen, err := begun(ctx, options, optionAccount)
	if err != nil {
		return nil, err
	}
	documents, handles, err := documentsOf(evidence)
	if err != nil {
		return nil, err
	}
	answer, closed := libassay.Decide(&v.handle, handles, chosen.account, chosen.now)
	runtime.KeepAlive(documents)
	if closed == libassay.EvidenceClosed {
		return nil, fmt.Errorf("%w: evidence", ErrClosed)
	}
	document, err := v.own(answer, closed == libassay.NoneClosed)
	if err != nil {
		return nil, err
	}
	if !document.OK() && document.status.String() != notEntitled {
		return nil, document.Err()
	}
	found, err := read[Decision](document, "decision")
	if err != nil {
		return nil, err
	}
	return found, found.finish()
}

// documentsOf returns the documents behind evidence, each once, and their handles.
func documentsOf(evidence []Evidence) ([]*Document, []*libassay.Handle, error) {
	documents := make([]*Document, 0, len(evidence))
	handles := make([]*libassay.Handle, 0, len(evidence))
	seen := make(map[*Document]bool, len(evidence))
	for _, each := range evidence {
		document := proofOf(each)
		if document == nil {
			return nil, nil, fmt.Errorf("%w: evidence that no verifier made", ErrArgument)
		}
		if !seen[document] {
			seen[document] = true
			documents = append(documents, document)
			handles = append(handles, &document.handle)
		}
	}
	return documents, handles, nil
}

// ---- calls -------------------------------------------------------------------

// own returns the document of a call with this verifier; ErrClosed if the verifier is closed.
func (v *Verifier) own(answer libassay.Answer, open bool) (*Document, error) {
	runtime.KeepAlive(v)
	if !open {
		return nil, ErrClosed
	}
	return answered(answer)
}

func (v *Verifier) jws(
	ctx context.Context, kind int32, jws libassay.Text, options []Option,
) (*Document, error) {
	chosen, err := begun(ctx, options, 0)
	if err != nil {
		return nil, err
	}
	answer, open := libassay.VerifyJWS(&v.handle, kind, jws, chosen.now)
	return v.own(answer, open)
}

func (v *Verifier) receipt(
	ctx context.Context, kind int32, receipt []byte, options []Option, allowed optionKind,
) (*Document, error) {
	chosen, err := begun(ctx, options, allowed)
	if err != nil {
		return nil, err
	}
	answer, open := libassay.VerifyReceipt(
		&v.handle, kind, libassay.GivenBytes(receipt), chosen.subject, chosen.now)
	return v.own(answer, open)
}

func (v *Verifier) answer(
	ctx context.Context, body []byte, options []Option,
) (*Document, error) {
	chosen, err := begun(ctx, options, 0)
	if err != nil {
		return nil, err
	}
	answer, open := libassay.ReadVerifyReceiptResponse(
		&v.handle, libassay.GivenBytes(body), chosen.now)
	return v.own(answer, open)
}

// verified returns the facts of an accepted document, else the error.
func verified[T any](document *Document, err error, path ...string) (*T, error) {
	if err == nil {
		err = document.Err()
	}
	if err != nil {
		return nil, err
	}
	return read[T](document, path...)
}

// read decodes facts that must exist.
func read[T any](document *Document, path ...string) (*T, error) {
	found := new(T)
	there, err := factsAt(document, found, path...)
	if err == nil && !there {
		err = document.unreadable()
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}

// ours returns the error of a call that failed by a fault of the program or of the library.
func (d *Document) ours() error {
	switch d.status.Family() {
	case ErrMisuse, ErrInternal:
		return refusal(d)
	}
	return nil
}
