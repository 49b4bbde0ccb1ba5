package assay

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay.example/bindings/go/internal/libassay"
)

const smallest = `{"apps":[{"bundleId":"com.example.app","appAppleId":1234567890}]}`

// moment is a time that every call accepts.
var moment = time.UnixMilli(1_793_000_000_000)

func newVerifier(t testing.TB) *Verifier {
	t.Helper()
	verifier, err := NewVerifier(smallest)
	must(t, err)
	t.Cleanup(verifier.Close)
	return verifier
}

func TestErrorFields(t *testing.T) {
	_, err := newVerifier(t).VerifyTransaction(ctx, "e30.e30.e30", At(moment))
	var refused *Error
	if !errors.As(err, &refused) {
		t.Fatalf("the error is %v", err)
	}
	if refused.Name != "malformed.jws.signature-length" || refused.HTTPStatus != 400 ||
		refused.RetryClass != RetryNever || refused.Rule == "" || refused.Check == "" ||
		refused.Message == "" || refused.Hint == "" || refused.Document == nil {
		t.Errorf("the error is %+v", refused)
	}
	for _, part := range []string{refused.Name, refused.Message, refused.Rule, refused.Hint} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if refused.Document.Err().Error() != err.Error() {
		t.Errorf("the document says %v", refused.Document.Err())
	}
	if refused.Document.Status().Family() != ErrMalformed {
		t.Errorf("the family is %v", refused.Document.Status().Family())
	}
}

// Asserts that the hint is the document's, for its kind of evidence, not the general one.
func TestHintOfTheKind(t *testing.T) {
	data := ClientDataBytes([]byte("data"))
	_, err := newVerifier(t).VerifyAttestation(ctx, []byte("object"), "id", data)
	var refused *Error
	if !errors.As(err, &refused) || refused.Name != "config.attest.app-ids" {
		t.Fatalf("the error is %v", err)
	}
	if !strings.Contains(refused.Hint, "this verifier knows no App ID") ||
		refused.Hint == refusalOf(refused.Status).Hint {
		t.Errorf("the hint is %q", refused.Hint)
	}
}

func TestConfigurationPlace(t *testing.T) {
	_, err := NewVerifier(map[string]any{
		"apps": []map[string]any{{"bundleId": "com.example.app", "appAppleId": 1}}, "planz": 1})
	var refused *Error
	if !errors.As(err, &refused) || !errors.Is(err, ErrConfig) {
		t.Fatalf("the error is %v", err)
	}
	if refused.Place != "planz" || refused.HTTPStatus != 500 {
		t.Errorf("the error is %+v", refused)
	}
	if _, err := NewVerifier(func() {}); !errors.Is(err, ErrArgument) {
		t.Errorf("a configuration that is no JSON: %v", err)
	}
	if _, err := NewVerifier(nil); !errors.Is(err, ErrConfig) {
		t.Errorf("no configuration: %v", err)
	}
}

func TestConfigurationFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if _, err := NewVerifierFromFile(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	must(t, os.WriteFile(path, []byte(smallest), 0o600))
	verifier, err := NewVerifierFromFile(path)
	must(t, err)
	defer verifier.Close()
	got, want := verifier.Configuration(), newVerifier(t).Configuration()
	if string(got) != string(want) {
		t.Errorf("the configuration is %s, not %s", got, want)
	}
	must(t, os.WriteFile(path, []byte("{"), 0o600))
	if _, err := NewVerifierFromFile(path); !errors.Is(err, ErrConfig) {
		t.Errorf("a file without a configuration: %v", err)
	}
}

func TestStatus(t *testing.T) {
	families, known := map[error]bool{}, 0
	for s := Status(libassay.StatusNext(0)); !s.OK(); s = Status(libassay.StatusNext(int32(s))) {
		known++
		families[s.Family()] = true
		if statusNamed(s.String()) != s {
			t.Errorf("%d is not found by its name, %s", s, s)
		}
		if family := "assay: " + strings.Split(s.String(), ".")[0]; s.Family().Error() != family {
			t.Errorf("the family of %s is %v", s, s.Family())
		}
		if http := s.HTTPStatus(); http < 200 || http > 599 {
			t.Errorf("the HTTP status of %s is %d", s, http)
		}
		found := refusalOf(s)
		if found.Message == "" || found.Hint == "" || found.RetryClass == "" {
			t.Errorf("%s says nothing: %+v", s, found)
		}
	}
	if known < 300 || len(families) != 9 {
		t.Errorf("%d statuses of %d families", known, len(families))
	}
	if OK := Status(0); !OK.OK() || OK.Family() != nil || OK.HTTPStatus() != 200 {
		t.Error("0 is not ok")
	}
	// Statuses of a library that is newer than this package.
	for code, http := range map[Status]int{
		0x7fff01: 400, 0x7fff02: 400, 0x7fff03: 400, 0x7fff04: 413, 0x7fff05: 500,
		0x7fff06: 500, 0x7fff07: 503, 0x7fff08: 500, 0x7fff09: 500, 0x7fff63: 500, -1: 500,
	} {
		if code.HTTPStatus() != http || code.Family() == nil || code.String() == "" {
			t.Errorf("%d: %d, %v, %q", code, code.HTTPStatus(), code.Family(), code)
		}
	}
}

// everyCall makes each call of a verifier once, with options, and returns their errors.
func everyCall(v *Verifier, ctx context.Context, options ...Option) map[string]error {
	found := map[string]error{}
	octets := []byte("e30.e30.e30")
	_, found["VerifyTransaction"] = v.VerifyTransaction(ctx, "e30.e30.e30", options...)
	_, found["VerifyRenewalInfo"] = v.VerifyRenewalInfo(ctx, "e30.e30.e30", options...)
	_, found["VerifyNotification"] = v.VerifyNotification(ctx, "e30.e30.e30", options...)
	_, found["VerifyAppTransaction"] = v.VerifyAppTransaction(ctx, "e30.e30.e30", options...)
	_, found["VerifyRealtimeRequest"] = v.VerifyRealtimeRequest(ctx, "e30.e30.e30", options...)
	_, found["VerifyTransactionReceipt"] = v.VerifyTransactionReceipt(ctx, octets, options...)
	_, found["VerifyAppReceipt"] = v.VerifyAppReceipt(ctx, octets, options...)
	_, found["VerifyAttestReceipt"] = v.VerifyAttestReceipt(ctx, octets, options...)
	_, found["ReadVerifyReceiptResponse"] = v.ReadVerifyReceiptResponse(ctx, octets, options...)
	_, found["Triage"] = v.Triage(ctx, octets, options...)
	for kind := range kinds {
		_, known := jwsKinds[kind]
		if _, receipt := receiptKinds[kind]; known || receipt || kind == KindVerifyReceiptResponse {
			_, found["Verify "+string(kind)] = v.Verify(ctx, kind, octets, options...)
		}
	}
	data := ClientDataBytes(octets)
	_, found["VerifyAttestation"] = v.VerifyAttestation(ctx, octets, "key", data, options...)
	_, found["VerifyAssertion"] = v.VerifyAssertion(ctx, octets, octets, 0, data, options...)
	_, found["Decide"] = v.Decide(ctx, nil, options...)
	_, found["ReadDeviceCheckResponse"] = v.ReadDeviceCheckResponse(
		ctx, DeviceCheckResponse{Call: DeviceQuery, Status: 200}, options...)
	_, found["NormalizeDeviceToken"] = v.NormalizeDeviceToken(ctx, "AAAA", options...)
	_, found["NormalizeKeyID"] = v.NormalizeKeyID(ctx, strings.Repeat("00", 32), options...)
	_, found["AnswerVerifyReceipt"] = v.AnswerVerifyReceipt(
		ctx, VerifyReceiptRequest{Endpoint: Production}, options...)
	_, found["AssessRisk"] = v.AssessRisk(
		ctx, map[string]string{"request": "paid", "attestation": "absent"}, options...)
	_, found["Exchange"] = v.Exchange(
		ctx, `{"operation":"normalize-device-token"}`, nil, options...)
	return found
}

func TestUseAfterClose(t *testing.T) {
	verifier := newVerifier(t)
	verifier.Close()
	verifier.Close()
	for name, err := range everyCall(verifier, ctx, At(moment)) {
		if err != ErrClosed {
			t.Errorf("%s on a closed verifier: %v", name, err)
		}
	}
	for name, err := range everyCall(new(Verifier), ctx, At(moment)) {
		if err != ErrClosed {
			t.Errorf("%s on no verifier: %v", name, err)
		}
	}
	if !json.Valid(verifier.Configuration()) || !verifier.Document().OK() {
		t.Error("the document of a closed verifier is gone")
	}
}

func TestContext(t *testing.T) {
	verifier := newVerifier(t)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for name, err := range everyCall(verifier, cancelled, At(moment)) {
		if err != context.Canceled {
			t.Errorf("%s under a cancelled context: %v", name, err)
		}
	}
	late, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	defer cancel()
	if _, err := verifier.VerifyRenewalInfo(late, "x"); err != context.DeadlineExceeded {
		t.Errorf("after the deadline: %v", err)
	}
	var none context.Context
	if _, err := verifier.VerifyRenewalInfo(none, "x"); !errors.Is(err, ErrMalformed) {
		t.Errorf("without a context: %v", err)
	}
}

// Asserts that an option is refused, not ignored, by a call that does not support it.
func TestOptions(t *testing.T) {
	verifier := newVerifier(t)
	taken := map[string]string{
		"VerifyAppReceipt": "Device", "Verify app-receipt": "Device",
		"VerifyAttestReceipt": "PublicKeyOf", "Verify attest-receipt": "PublicKeyOf",
		"Decide": "Account",
	}
	for option, each := range map[string]Option{
		"Device": Device(make([]byte, 16)), "PublicKeyOf": PublicKeyOf(make([]byte, 65)),
		"Account": Account("x"), "none": {},
	} {
		for name, err := range everyCall(verifier, ctx, At(moment), each) {
			if errors.Is(err, ErrArgument) == (taken[name] == option) {
				t.Errorf("%s with the option %s: %v", name, option, err)
			}
		}
	}
}

// Asserts that a device, a key or an account that is present but empty is not ignored.
func TestEmptyIsNotAbsent(t *testing.T) {
	cases := theCases(t)
	each := cases.accepted(t, "verify_receipt", KindAppReceipt)
	verifier, receipt := cases.verifier(t, each.Verifier), each.input(t, "receipt")
	for _, device := range [][]byte{nil, {}} {
		_, err := verifier.VerifyAppReceipt(ctx, receipt, Device(device), each.at())
		if !errors.Is(err, ErrMisuse) {
			t.Errorf("a device id of no bytes: %v", err)
		}
	}
	each = cases.accepted(t, "verify_receipt", KindAttestReceipt)
	_, err := cases.verifier(t, each.Verifier).VerifyAttestReceipt(
		ctx, each.input(t, "receipt"), PublicKeyOf(nil), each.at())
	if !errors.Is(err, ErrMisuse) {
		t.Errorf("a public key of no bytes: %v", err)
	}
	checkEmptyAccount(t, cases)
	if document, err := verifier.Verify(ctx, KindTransaction, nil, each.at()); err != nil ||
		document.Status().String() != "malformed.jws.form" {
		t.Errorf("no evidence: %v, %v", document, err)
	}
}

// checkEmptyAccount decides for an empty account, which is no UUID, and for no account.
func checkEmptyAccount(t *testing.T, cases *caseTable) {
	t.Helper()
	for i := range cases.Cases {
		each := &cases.Cases[i]
		if each.Call != "decide" || each.Account == nil || each.Expect.Status != "ok" ||
			each.Verifier != "standard" {
			continue
		}
		pieces := piecesOf(t, cases, each)
		verifier := cases.verifier(t, each.Verifier)
		_, err := verifier.Decide(ctx, pieces, Account(""), each.at())
		if !errors.Is(err, ErrMisuse) {
			t.Errorf("an empty account: %v", err)
		}
		_, err = verifier.Decide(ctx, pieces, each.at())
		if err != nil {
			t.Errorf("no account: %v", err)
		}
		return
	}
	t.Fatal("the table has no decision for an account")
}

func TestEvidenceThatIsNone(t *testing.T) {
	verifier := newVerifier(t)
	var absent *Transaction
	for _, evidence := range []Evidence{nil, absent, new(Transaction), new(Triage)} {
		_, err := verifier.Decide(ctx, []Evidence{evidence}, At(moment))
		if !errors.Is(err, ErrArgument) {
			t.Errorf("evidence %v: %v", evidence, err)
		}
		_, err = verifier.Exchange(ctx, "{}", []Evidence{evidence}, At(moment))
		if !errors.Is(err, ErrArgument) {
			t.Errorf("an exchange about %v: %v", evidence, err)
		}
	}
	if facts := new(Transaction); facts.Document() != nil {
		t.Error("facts not made by a call have a document")
	}
	refused, err := verifier.Verify(ctx, KindTransaction, []byte("x"), At(moment))
	must(t, err)
	if _, err := verifier.Decide(ctx, []Evidence{refused}, At(moment)); !errors.Is(err, ErrMisuse) {
		t.Errorf("refused evidence: %v", err)
	}
	if _, err := verifier.Verify(ctx, "any", nil); !errors.Is(err, ErrArgument) {
		t.Errorf("another kind: %v", err)
	}
}

func TestClosedDocument(t *testing.T) {
	cases := theCases(t)
	each := cases.accepted(t, "verify_jws", KindTransaction)
	verifier := cases.verifier(t, each.Verifier)
	transaction, err := verifier.VerifyTransaction(ctx, string(each.input(t, "jws")), each.at())
	must(t, err)
	product, document := transaction.ProductID, transaction.Document()
	if text, found, err := document.Text("transaction.productId"); err != nil || !found ||
		text != product {
		t.Errorf("the text is %q, %v, %v", text, found, err)
	}
	transaction.Close()
	document.Close()
	if _, _, err := document.Text("kind"); err != ErrClosed {
		t.Errorf("a text of a closed document: %v", err)
	}
	if _, _, err := document.Integer("assay"); err != ErrClosed {
		t.Errorf("an integer of a closed document: %v", err)
	}
	_, err = verifier.Decide(ctx, []Evidence{transaction}, each.at())
	if !errors.Is(err, ErrClosed) {
		t.Errorf("a decision on a closed document: %v", err)
	}
	_, err = verifier.Exchange(ctx, "{}", []Evidence{transaction}, each.at())
	if !errors.Is(err, ErrClosed) {
		t.Errorf("an exchange about a closed document: %v", err)
	}
	if transaction.ProductID != product || !document.OK() || !json.Valid(document.Raw()) ||
		document.Kind() != KindTransaction {
		t.Error("a closed document has lost what was read")
	}
}

func TestJSONOfFacts(t *testing.T) {
	cases := theCases(t)
	each := cases.accepted(t, "verify_jws", KindTransaction)
	transaction, err := cases.verifier(t, each.Verifier).VerifyTransaction(
		ctx, string(each.input(t, "jws")), each.at())
	must(t, err)
	text, err := json.Marshal(map[string]any{
		"facts": transaction, "document": transaction.Document(), "none": new(Transaction)})
	must(t, err)
	root := parsed(t, string(text))
	checkMember(t, root, "facts.productId", transaction.ProductID)
	checkMember(t, root, "document.kind", "transaction")
	checkMember(t, root, "none", nil)
}

func TestDates(t *testing.T) {
	if found, err := CheckExpiry(Dates{Expires: Forever}, moment); err != nil || !found.InForce {
		t.Errorf("without end: %v, %v", found, err)
	}
	if found, err := CheckExpiry(Dates{}, moment); err != nil || found.InForce {
		t.Errorf("without dates: %v, %v", found, err)
	}
	for _, far := range []time.Time{time.Unix(1<<62, 0), time.Unix(-1<<62, 0)} {
		if _, err := CheckExpiry(Dates{Grace: far}, moment); !errors.Is(err, ErrArgument) {
			t.Errorf("%v: %v", far, err)
		}
	}
	if _, err := CheckExpiry(Dates{}, time.Time{}); !errors.Is(err, ErrMisuse) {
		t.Errorf("no now: %v", err)
	}
}

// ---- the loaded library ------------------------------------------------------

func TestFittingLibrary(t *testing.T) {
	must(t, fitting())
	if LibraryVersionNumber() < libassay.HeaderVersionNumber || LibraryVersion() == "" {
		t.Errorf("the library is %s", LibraryVersion())
	}
	if !json.Valid(BuildInfo()) {
		t.Errorf("the build information is %s", BuildInfo())
	}
	for _, each := range []struct {
		number    uint32
		buildInfo string
		fits      bool
	}{
		{libassay.HeaderVersionNumber, `{"abi":0}`, true},
		{libassay.HeaderVersionNumber + 1, `{"abi":0}`, true},
		{libassay.HeaderVersionNumber - 1, `{"abi":0}`, false},
		{libassay.HeaderVersionNumber, `{"abi":1}`, false},
		{libassay.HeaderVersionNumber, `{}`, false},
		{libassay.HeaderVersionNumber, `{`, false},
	} {
		err := judged(each.number, "v", each.buildInfo)
		if errors.Is(err, ErrLibrary) == each.fits {
			t.Errorf("%+v: %v", each, err)
		}
	}
}

// inChild marks a process that runs with an older library.
const inChild = "ASSAY_TEST_OLDER_LIBRARY"

// Asserts that a program with an older library gets an error, and continues.
func TestOlderLibrary(t *testing.T) {
	if os.Getenv(inChild) != "" {
		for name, call := range map[string]func() error{
			"NewVerifier": func() error { _, err := NewVerifier(smallest); return err },
			"CheckExpiry": func() error { _, err := CheckExpiry(Dates{}, moment); return err },
		} {
			err := call()
			if !errors.Is(err, ErrLibrary) || !strings.Contains(err.Error(), "0.0.9") {
				t.Errorf("%s with an older library: %v", name, err)
			}
		}
		return
	}
	folder := t.TempDir()
	source := "#include <stdint.h>\n"
	for _, name := range functions {
		switch name {
		case "assay_version_number":
			source += "uint32_t assay_version_number(void) { return 9; }\n"
		case "assay_version":
			source += "const char *assay_version(void) { return \"0.0.9\"; }\n"
		case "assay_build_info":
			source += "const char *assay_build_info(void) { return \"{\\\"abi\\\":0}\"; }\n"
		default:
			source += "int " + name + "(void) { return 8; }\n"
		}
	}
	must(t, os.WriteFile(filepath.Join(folder, "older.c"), []byte(source), 0o600))
	library := filepath.Join(folder, "libassay.so.0")
	run(t, nil, "cc", "-shared", "-fPIC", "-Wl,-soname,libassay.so.0",
		"-Wl,--version-script=../../Sources/AssayABI/Link/assay.map", "-o", library,
		filepath.Join(folder, "older.c"))
	output, err := run(t, []string{inChild + "=1", "LD_LIBRARY_PATH=" + folder},
		os.Args[0], "-test.run=^TestOlderLibrary$", "-test.v")
	if err != nil || !strings.Contains(output, "--- PASS: TestOlderLibrary") {
		t.Errorf("with an older library: %v\n%s", err, output)
	}
}

// run starts a program; if the caller sets variables, it handles a failure itself.
func run(t *testing.T, variables []string, name string, arguments ...string) (string, error) {
	t.Helper()
	command := exec.Command(name, arguments...)
	command.Env = append(os.Environ(), variables...)
	output, err := command.CombinedOutput()
	if err != nil && variables == nil {
		t.Fatalf("%s: %v\n%s", name, err, output)
	}
	return string(output), err
}

// Asserts that a build without cgo fails with a message that names what is missing.
func TestBuildWithoutCgo(t *testing.T) {
	output, err := run(t, []string{"CGO_ENABLED=0"}, "go", "build", "-o", os.DevNull, ".")
	const name = "undefined: assay_needs_cgo__set_CGO_ENABLED_1_and_install_a_C_compiler"
	if err == nil || !strings.Contains(output, name) || strings.Count(output, "undefined:") != 1 {
		t.Errorf("a build without cgo: %v\n%s", err, output)
	}
}

// Asserts that the package calls every function of the header.
func TestEveryFunctionIsBound(t *testing.T) {
	text, err := os.ReadFile("internal/libassay/library.go")
	must(t, err)
	if len(functions) < 20 {
		t.Fatalf("the header has %d functions", len(functions))
	}
	for _, name := range functions {
		if !strings.Contains(string(text), name+"(") {
			t.Errorf("%s is not bound", name)
		}
	}
	document := newVerifier(t).Document()
	if status, open := libassay.DocumentStatus(&document.handle); !open || status != 0 {
		t.Errorf("the status is %d, %v", status, open)
	}
}
