package assay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Asserts that every case of the shared table has its expected result, both by the method of
// its kind and by Verify, with the same document.

func TestCases(t *testing.T) {
	calls := map[string]func(*testing.T, *caseTable, *tableCase){
		"verify_jws":                   checkJWS,
		"verify_receipt":               checkReceipt,
		"triage":                       checkTriage,
		"read_verify_receipt_response": checkAnswer,
		"verify_attestation":           checkAttestation,
		"verify_assertion":             checkAssertion,
		"verify_token":                 checkToken,
		"keyset_new":                   checkKeyset,
		"exchange":                     checkExchange,
		"transcript":                   checkTranscript,
		"decide":                       checkDecision,
		"check_expiry":                 checkExpiryCase,
		"verifier_new":                 checkConfiguration,
	}
	cases := theCases(t)
	seen, names := map[string]int{}, map[string]bool{}
	for i := range cases.Cases {
		each := &cases.Cases[i]
		seen[each.Call]++
		if names[each.Call+each.Name] {
			t.Errorf("the name %q stands twice", each.Name)
		}
		names[each.Call+each.Name] = true
		check, known := calls[each.Call]
		if !known {
			t.Errorf("no test for the call %s", each.Call)
			continue
		}
		if cases.kept(i) {
			t.Run(each.Call+"/"+each.Name, func(t *testing.T) { check(t, cases, each) })
		}
	}
	for call := range calls {
		if seen[call] == 0 {
			t.Errorf("the table has no %s case", call)
		}
	}
}

var ctx = context.Background()

func checkJWS(t *testing.T, cases *caseTable, each *tableCase) {
	verifier, jws := cases.verifier(t, each.Verifier), string(each.input(t, "jws"))
	document, err := verifier.Verify(ctx, each.Kind, []byte(jws), each.at())
	must(t, err)
	checkDocument(t, document, each)
	var found Evidence
	switch each.Kind {
	case KindTransaction:
		found, err = verifier.VerifyTransaction(ctx, jws, each.at())
	case KindRenewalInfo:
		found, err = verifier.VerifyRenewalInfo(ctx, jws, each.at())
	case KindNotification:
		found, err = verifier.VerifyNotification(ctx, jws, each.at())
	case KindAppTransaction:
		found, err = verifier.VerifyAppTransaction(ctx, jws, each.at())
	case KindRealtimeRequest:
		found, err = verifier.VerifyRealtimeRequest(ctx, jws, each.at())
	default:
		t.Fatalf("no method for a %s", each.Kind)
	}
	checkOutcome(t, found, err, each)
}

func checkReceipt(t *testing.T, cases *caseTable, each *tableCase) {
	verifier, receipt := cases.verifier(t, each.Verifier), each.input(t, "receipt")
	options := append(each.subject(t), each.at())
	document, err := verifier.Verify(ctx, each.Kind, receipt, options...)
	if each.Kind == KindTransactionReceipt && each.has("subject") {
		if !errors.Is(err, ErrArgument) {
			t.Fatalf("a transaction receipt with a subject: %v", err)
		}
		return
	}
	must(t, err)
	checkDocument(t, document, each)
	var found Evidence
	switch each.Kind {
	case KindTransactionReceipt:
		found, err = verifier.VerifyTransactionReceipt(ctx, receipt, options...)
	case KindAppReceipt:
		found, err = verifier.VerifyAppReceipt(ctx, receipt, options...)
	case KindAttestReceipt:
		found, err = verifier.VerifyAttestReceipt(ctx, receipt, options...)
	default:
		t.Fatalf("no method for a %s", each.Kind)
	}
	checkOutcome(t, found, err, each)
}

func checkTriage(t *testing.T, cases *caseTable, each *tableCase) {
	finding, err := cases.verifier(t, each.Verifier).Triage(
		ctx, each.input(t, "blob"), each.at())
	must(t, err)
	checkDocument(t, finding.Document(), each)
	pending := each.Expect.Status == "pending.triage.verify-next"
	if finding.WorthVerifying() != pending {
		t.Errorf("worth verifying: %v", !pending)
	}
	if finding.Status().String() != each.Expect.Status {
		t.Errorf("status %v", finding.Status())
	}
}

func checkAnswer(t *testing.T, cases *caseTable, each *tableCase) {
	verifier, body := cases.verifier(t, each.Verifier), each.input(t, "body")
	document, err := verifier.Verify(ctx, KindVerifyReceiptResponse, body, each.at())
	must(t, err)
	checkDocument(t, document, each)
	found, err := verifier.ReadVerifyReceiptResponse(ctx, body, each.at())
	checkOutcome(t, found, err, each)
}

func checkAttestation(t *testing.T, cases *caseTable, each *tableCase) {
	found, err := cases.verifier(t, each.Verifier).VerifyAttestation(
		ctx, each.input(t, "attestation"), string(each.input(t, "keyId")),
		each.clientData(t), each.at())
	checkDocument(t, checkOutcome(t, found, err, each), each)
}

func checkAssertion(t *testing.T, cases *caseTable, each *tableCase) {
	found, err := cases.verifier(t, each.Verifier).VerifyAssertion(
		ctx, each.input(t, "assertion"), each.input(t, "publicKey"), each.Counter,
		each.clientData(t), each.at())
	checkDocument(t, checkOutcome(t, found, err, each), each)
}

func checkToken(t *testing.T, cases *caseTable, each *tableCase) {
	verifier := cases.verifier(t, each.Verifier)
	keys, err := NewKeyset(each.input(t, "jwks"))
	must(t, err)
	defer keys.Close()
	for i := range each.Earlier {
		seen := &each.Earlier[i]
		// Any outcome will do: the key set has then seen the token.
		_, _ = verifier.VerifyToken(ctx, string(seen.input(t, "token")), keys, seen.at())
	}
	found, err := verifier.VerifyToken(ctx, string(each.input(t, "token")), keys, each.at())
	checkDocument(t, checkOutcome(t, found, err, each), each)
}

func checkKeyset(t *testing.T, _ *caseTable, each *tableCase) {
	keys, err := NewKeyset(each.input(t, "jwks"))
	if err != nil {
		checkDocument(t, checkRefusal(t, err, each), each)
		return
	}
	defer keys.Close()
	checkDocument(t, keys.Facts().Document(), each)
}

func checkExchange(t *testing.T, cases *caseTable, each *tableCase) {
	exchange, err := cases.verifier(t, each.Verifier).Exchange(
		ctx, each.input(t, "request"), piecesOf(t, cases, each), each.at())
	if err != nil {
		if !errors.Is(err, ErrMisuse) && !errors.Is(err, ErrInternal) {
			t.Errorf("an exchange answers %v", err)
		}
		checkDocument(t, checkRefusal(t, err, each), each)
		return
	}
	defer exchange.Close()
	if pending := strings.HasPrefix(each.Expect.Status, "pending."); exchange.Done() == pending {
		t.Errorf("done: %v", pending)
	}
	checkDocument(t, exchange.Document(), each)
}

// checkTranscript runs a transcript, and compares the document before each reply and the one
// after the last.
func checkTranscript(t *testing.T, cases *caseTable, each *tableCase) {
	exchange, err := cases.verifier(t, each.Verifier).Exchange(
		ctx, each.input(t, "request"), piecesOf(t, cases, each), each.at())
	document := documentOf(t, exchange, err)
	for i := range each.Steps {
		step := &each.Steps[i]
		checkDocument(t, document, step)
		if exchange.Done() { // the binding reports this itself
			_, err := exchange.Step(ctx, step.input(t, "answer"), step.at())
			if err != ErrExchangeOver || each.Expect.Status != "misuse.exchange.order" {
				t.Errorf("a step after the end: %v", err)
			}
			return
		}
		_, err := exchange.Step(ctx, step.input(t, "answer"), step.at())
		document = documentOf(t, exchange, err)
	}
	checkDocument(t, document, each)
}

// documentOf returns the document of an exchange, or of a refused call.
func documentOf(t *testing.T, exchange *Exchange, err error) *Document {
	t.Helper()
	var refused *Error
	if errors.As(err, &refused) {
		if !errors.Is(err, ErrMisuse) {
			t.Errorf("refused by %v", err)
		}
		return refused.Document
	}
	must(t, err)
	return exchange.Document()
}

func checkDecision(t *testing.T, cases *caseTable, each *tableCase) {
	options := []Option{each.at()}
	if each.Account != nil {
		options = append(options, Account(*each.Account))
	}
	decision, err := cases.verifier(t, each.Verifier).Decide(
		ctx, piecesOf(t, cases, each), options...)
	if err != nil {
		if each.Expect.Status == notEntitled {
			t.Errorf("not entitled is an answer, no error: %v", err)
		}
		checkDocument(t, checkRefusal(t, err, each), each)
		return
	}
	if decision.Entitled != (each.Expect.Status == "ok") {
		t.Errorf("entitled: %v", decision.Entitled)
	}
	checkDocument(t, decision.Document(), each)
}

// piecesOf returns the pieces of evidence, verified by the case's verifier unless they name
// another.
func piecesOf(t *testing.T, cases *caseTable, each *tableCase) []Evidence {
	t.Helper()
	var found []Evidence
	for i := range each.Evidence {
		piece := &each.Evidence[i]
		name, now := each.Verifier, each.at()
		if piece.Verifier != "" {
			name = piece.Verifier
		}
		if piece.Now != nil {
			now = piece.at()
		}
		if piece.Kind == KindKeyset {
			keys, err := NewKeyset(piece.input(t, "jwks"))
			found = append(found, documentOfKeys(t, keys, err))
			continue
		}
		verifier := cases.verifier(t, name)
		if piece.Kind == "attestation" || piece.Kind == "assertion" {
			found = append(found, signedOf(t, verifier, piece, now))
			continue
		}
		document, err := verifier.Verify(ctx, piece.Kind, piece.evidence(t), now)
		must(t, err)
		found = append(found, document)
	}
	return found
}

// signedOf verifies an attestation or assertion.
func signedOf(t *testing.T, verifier *Verifier, piece *tableCase, now Option) Evidence {
	t.Helper()
	if piece.Kind == "assertion" {
		found, err := verifier.VerifyAssertion(ctx, piece.input(t, "assertion"),
			piece.input(t, "publicKey"), piece.Counter, piece.clientData(t), now)
		must(t, err)
		return found
	}
	found, err := verifier.VerifyAttestation(ctx, piece.input(t, "attestation"),
		string(piece.input(t, "keyId")), piece.clientData(t), now)
	must(t, err)
	return found
}

// documentOfKeys returns the document of a key set, accepted or refused.
func documentOfKeys(t *testing.T, keys *Keyset, err error) Evidence {
	t.Helper()
	if err == nil {
		return keys.Facts()
	}
	var refusal *Error
	if !errors.As(err, &refusal) {
		t.Fatal(err)
	}
	return refusal.Document
}

func checkExpiryCase(t *testing.T, _ *caseTable, each *tableCase) {
	date := func(ms *int64) time.Time {
		if ms == nil {
			return time.Time{}
		}
		return time.UnixMilli(*ms)
	}
	found, err := CheckExpiry(Dates{
		Expires: date(each.Expires), Grace: date(each.Grace), Revoked: date(each.Revoked),
	}, time.UnixMilli(*each.Now))
	if err != nil {
		checkRefusal(t, err, each)
		return
	}
	if found.Status.String() != each.Expect.Status || found.InForce != found.Status.OK() {
		t.Errorf("%v, in force %v", found.Status, found.InForce)
	}
}

func checkConfiguration(t *testing.T, _ *caseTable, each *tableCase) {
	verifier, err := NewVerifier(each.input(t, "config"))
	if err != nil {
		checkDocument(t, checkRefusal(t, err, each), each)
		return
	}
	defer verifier.Close()
	checkDocument(t, verifier.Document(), each)
	if !json.Valid(verifier.Configuration()) {
		t.Errorf("the configuration is %s", verifier.Configuration())
	}
}

// checkOutcome returns the document of a call: that of its facts, or of an error of the
// expected family.
func checkOutcome(t *testing.T, found Evidence, err error, each *tableCase) *Document {
	t.Helper()
	if err != nil {
		if !reflect.ValueOf(found).IsNil() {
			t.Error("facts beside an error")
		}
		return checkRefusal(t, err, each)
	}
	document := proofOf(found)
	if each.Expect.Status != "ok" || !document.OK() {
		t.Fatalf("facts with status %v", document.Status())
	}
	return document
}

// checkRefusal returns the document of an error, which must be as the case expects.
func checkRefusal(t *testing.T, err error, each *tableCase) *Document {
	t.Helper()
	var refused *Error
	if !errors.As(err, &refused) {
		t.Fatalf("the error is %v", err)
	}
	if refused.Name != each.Expect.Status || refused.Status.String() != refused.Name {
		t.Errorf("the error is %v, not %s", err, each.Expect.Status)
	}
	family := strings.Split(each.Expect.Status, ".")[0]
	for name, sentinel := range map[string]error{
		"rejected": ErrRejected, "malformed": ErrMalformed, "unsupported": ErrUnsupported,
		"too-large": ErrTooLarge, "misuse": ErrMisuse, "config": ErrConfig,
		"unavailable": ErrUnavailable, "internal": ErrInternal, "pending": ErrPending,
	} {
		if errors.Is(err, sentinel) != (name == family) {
			t.Errorf("errors.Is(%v, %v) is %v", err, sentinel, name != family)
		}
	}
	if refused.Message == "" || refused.Hint == "" || refused.HTTPStatus < 200 {
		t.Errorf("the error says too little: %+v", refused)
	}
	return refused.Document
}

// checkDocument compares a document with the expectation of a case, and its getters, envelope
// and typed facts with its JSON.
func checkDocument(t *testing.T, document *Document, each *tableCase) {
	t.Helper()
	expect := each.Expect
	if document.Status().String() != expect.Status {
		t.Fatalf("status %v, not %s: %.2000s", document.Status(), expect.Status, document.JSON())
	}
	root := parsed(t, document.JSON())
	checkMember(t, root, "status.name", expect.Status)
	checkMember(t, root, "status.code", json.Number(strconv.Itoa(int(document.Status()))))
	checkMember(t, root, "ok", document.OK())
	for path, wanted := range map[string]*string{
		"error.check": expect.Check, "error.at": expect.At,
	} {
		if wanted != nil {
			checkMember(t, root, path, *wanted)
		}
	}
	if expect.Hint != nil {
		hint, _ := memberAt(root, "error.hint").(string)
		if !strings.HasPrefix(hint, *expect.Hint) {
			t.Errorf("hint %q", hint)
		}
	}
	var facts map[string]json.RawMessage
	if expect.Facts != nil {
		must(t, json.Unmarshal(expect.Facts, &facts))
	}
	for path, raw := range facts {
		checkMember(t, root, path, parsed(t, string(raw)))
		checkGetters(t, document, path, parsed(t, string(raw)))
	}
	checkTyped(t, document, root)
}

// checkGetters compares the library's getters with a member of the JSON.
func checkGetters(t *testing.T, document *Document, path string, wanted any) {
	t.Helper()
	text, isText, err := document.Text(path)
	must(t, err)
	integer, isInteger, err := document.Integer(path)
	must(t, err)
	switch value := wanted.(type) {
	case string:
		if !isText || text != value {
			t.Errorf("the text of %s is %q, %v", path, text, isText)
		}
	case json.Number:
		if number, err := value.Int64(); err == nil && (!isInteger || integer != number) {
			t.Errorf("the integer of %s is %d, %v", path, integer, isInteger)
		}
	case nil, bool:
		if isText || isInteger {
			t.Errorf("%s is %q or %d", path, text, integer)
		}
	}
}

// checkMember compares a member of the JSON, by its dotted path.
func checkMember(t *testing.T, root any, path string, wanted any) {
	t.Helper()
	if found := memberAt(root, path); !reflect.DeepEqual(found, wanted) {
		t.Errorf("%s is %#v, not %#v", path, found, wanted)
	}
}

// memberAt returns a member by its dotted path; nil if it is absent or null.
func memberAt(value any, path string) any {
	for _, step := range strings.Split(path, ".") {
		switch inside := value.(type) {
		case map[string]any:
			value = inside[step]
		case []any:
			at, err := strconv.Atoi(step)
			if err != nil || at < 0 || at >= len(inside) {
				return nil
			}
			value = inside[at]
		default:
			return nil
		}
	}
	return value
}

// parsed returns JSON as encoding/json decodes it, with numbers unchanged.
func parsed(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("no JSON: %v: %.300s", err, text)
	}
	return value
}

func describe(value any) string { return fmt.Sprintf("%#v", value) }
