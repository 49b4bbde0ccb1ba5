package assay

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"assay.example/bindings/go/internal/libassay"
)

const riskRequest = `{"operation":"assess-risk",
	"observations":{"request":"paid","attestation":"verified"}}`

func TestExchangeAtOnce(t *testing.T) {
	exchange, err := newVerifier(t).Exchange(ctx, riskRequest, nil, At(moment))
	must(t, err)
	if !exchange.Done() || !exchange.Document().OK() || exchange.Document().Kind() != KindRisk {
		t.Errorf("the exchange: %v, %s", exchange.Done(), exchange.Document().JSON())
	}
	facts, err := exchange.Document().Facts()
	must(t, err)
	if risk := facts.(*Risk); !risk.Allowed() || risk.Status().HTTPStatus() != 200 {
		t.Errorf("the risk is %+v", risk)
	}
	if _, err := exchange.Step(ctx, "{}"); err != ErrExchangeOver {
		t.Errorf("a step after the end: %v", err)
	}
	if _, err := new(Exchange).Step(ctx, "{}"); err != ErrExchangeOver {
		t.Errorf("a step of no exchange: %v", err)
	}
	if new(Exchange).Payload() != nil || new(Exchange).StepName() != "" {
		t.Error("no exchange has a payload")
	}
}

func TestExchangeForms(t *testing.T) {
	verifier := newVerifier(t)
	var value map[string]any
	must(t, json.Unmarshal([]byte(riskRequest), &value))
	for _, request := range []any{
		riskRequest, []byte(riskRequest), json.RawMessage(riskRequest), value,
	} {
		if exchange, err := verifier.Exchange(ctx, request, nil); err != nil ||
			!exchange.Document().OK() {
			t.Errorf("a %T: %v", request, err)
		}
	}
	if _, err := verifier.Exchange(ctx, make(chan int), nil); !errors.Is(err, ErrArgument) {
		t.Errorf("a request that is no JSON: %v", err)
	}
	if _, err := verifier.Exchange(ctx, "{", nil); !errors.Is(err, ErrMisuse) {
		t.Errorf("half a request: %v", err)
	}
}

func TestNormalizeKeyID(t *testing.T) {
	verifier := newVerifier(t)
	octets := make([]byte, 32)
	text, err := verifier.NormalizeKeyID(ctx, hex.EncodeToString(octets))
	if err != nil || text != base64.StdEncoding.EncodeToString(octets) {
		t.Errorf("it is %q, %v", text, err)
	}
	if _, err := verifier.NormalizeKeyID(ctx, "\xff"); !errors.Is(err, ErrMalformed) {
		t.Errorf("no key id: %v", err)
	}
}

func TestAnswerVerifyReceipt(t *testing.T) {
	verifier := newVerifier(t)
	asked := VerifyReceiptRequest{Body: []byte(`{"receipt-data":"AQIDBA=="}`), Endpoint: Production}
	found, err := verifier.AnswerVerifyReceipt(ctx, asked, At(moment))
	must(t, err)
	const name = "rejected.kind.mismatch"
	if found.HTTPStatus != 200 || *found.AppleStatus != 21002 ||
		found.ContentType != "application/json" ||
		found.Body != `{"status":21002,"assay":{"version":1,"status":"`+name+`"}}` {
		t.Errorf("the answer is %+v", found)
	}
	asked.Measured, asked.Tolerant, asked.EndedLater, asked.Unmarked = true, true, true, true
	found, err = verifier.AnswerVerifyReceipt(ctx, asked, At(moment))
	must(t, err)
	if found.Body != `{"status":21002}` {
		t.Errorf("without a mark: %s", found.Body)
	}
	asked.Endpoint = Sandbox
	if _, err = verifier.AnswerVerifyReceipt(ctx, asked); !errors.Is(err, ErrMisuse) {
		t.Errorf("an endpoint that is not accepted: %v", err)
	}
}

func TestRefunds(t *testing.T) {
	verifier := theCases(t).verifier(t, "refunds")
	ms := moment.UnixMilli()
	purchase := map[string]any{"environment": "Sandbox", "bundleId": "com.example.app",
		"transactionId": "1", "product": "p.1", "type": "Consumable", "ownership": "PURCHASED",
		"purchasedAtMs": ms, "askedAtMs": ms, "isGranted": true}
	consent := map[string]any{"isGiven": true, "answeredAtMs": ms}
	answer, err := verifier.AssessRefund(
		ctx, purchase, map[string]any{"consent": consent}, At(moment))
	must(t, err)
	if answer.Answer != RefundActionSend || answer.Would != "" || len(answer.Request) == 0 ||
		answer.Fields[0].Rule != "RFA-13" || answer.DueAt.UnixMilli() != ms+43_200_000 {
		t.Errorf("the answer is %+v", answer)
	}
	answer, err = verifier.AssessRefund(ctx, purchase, `{}`, At(moment))
	must(t, err)
	if answer.Answer != RefundActionSilent || string(answer.Request) != "" {
		t.Errorf("without consent: %+v", answer)
	}
	_, err = verifier.AssessRefund(ctx, purchase, `{"consented":true}`, At(moment))
	if !errors.Is(err, ErrMalformed) {
		t.Errorf("a misspelt observation: %v", err)
	}
	share := int64(30_000)
	units, err := verifier.ComputeRefundUnits(
		ctx, ComputeRefundUnitsRequest{Units: 100, Percentage: &share})
	must(t, err)
	if *units.Refunded != 30 || *units.Remaining != 70 || units.Take != 30 {
		t.Errorf("the units are %+v", units)
	}
	units, err = verifier.ComputeRefundUnits(ctx, ComputeRefundUnitsRequest{
		Units: 100, RevocationType: RefundProrated})
	if err != nil || units.Share != nil || units.Take != 0 {
		t.Errorf("an unknown share: %+v, %v", units, err)
	}
	if _, err = verifier.ComputeRefundUnits(
		ctx, ComputeRefundUnitsRequest{Units: -1}); !errors.Is(err, ErrMisuse) {
		t.Errorf("units below 0: %v", err)
	}
}

func TestRiskAndDeviceCheck(t *testing.T) {
	verifier := newVerifier(t)
	risk, err := verifier.AssessRisk(ctx,
		map[string]any{"request": "paid", "attestation": "refused"}, At(moment))
	must(t, err)
	if risk.Allowed() || risk.Verdict != VerdictDeny || risk.Status().HTTPStatus() != 403 {
		t.Errorf("the risk is %+v", risk)
	}
	if _, err := verifier.AssessRisk(ctx, `{}},"kind":{"x":1`); !errors.Is(err, ErrArgument) {
		t.Errorf("observations that are no JSON: %v", err)
	}
	text, err := verifier.NormalizeDeviceToken(ctx, DeviceTokenText([]byte("token")))
	if err != nil || text != "dG9rZW4=" {
		t.Errorf("the token is %q, %v", text, err)
	}
	if _, err := verifier.NormalizeDeviceToken(ctx, "\xff"); !errors.Is(err, ErrMalformed) {
		t.Errorf("no token: %v", err)
	}
	_, err = verifier.ReadDeviceCheckResponse(
		ctx, DeviceCheckResponse{Call: DeviceQuery, Status: 200})
	if !errors.Is(err, ErrConfig) {
		t.Errorf("without the block: %v", err)
	}
	cases := theCases(t)
	configured := cases.verifier(t, "device-check")
	answer := DeviceCheckResponse{Call: DeviceQuery, Status: 200, Offer: true,
		Body: []byte(`{"bit0":false,"bit1":true,"last_update_time":"2026-05"}`)}
	found, err := configured.ReadDeviceCheckResponse(ctx, answer, At(moment))
	must(t, err)
	if found.Outcome != DeviceBitsKnown || !found.Bits.Bit1.Value || found.Offer != OfferFree {
		t.Errorf("the device is %+v", found)
	}
	risk, err = configured.AssessRisk(ctx, map[string]any{
		"request": "free", "attestation": "absent", "deviceCheck": found}, At(moment))
	must(t, err)
	if risk.Allowed() {
		t.Errorf("the risk is %+v", risk)
	}
	answer.Status, answer.Body = 0, nil
	_, err = configured.ReadDeviceCheckResponse(ctx, answer, At(moment))
	var refused *Error
	if !errors.Is(err, ErrUnavailable) || !errors.As(err, &refused) {
		t.Fatalf("no answer: %v", err)
	}
	facts, err := refused.Document.Facts()
	must(t, err)
	if device := facts.(*DeviceCheck); device.Outcome != DeviceUnavailable ||
		device.Fault != FaultTransient {
		t.Errorf("the device is %+v", device)
	}
}

// begin starts the exchange of a transcript, and returns it with its replies and its time.
func begin(t *testing.T, name string) (*Exchange, []string, Option) {
	t.Helper()
	each := theCases(t).transcript(t, name)
	at := At(time.UnixMilli(*each.Now))
	exchange, err := theCases(t).verifier(t, each.Verifier).Exchange(
		ctx, each.input(t, "request"), nil, at)
	must(t, err)
	var answers []string
	for i := range each.Steps {
		answers = append(answers, string(each.Steps[i].input(t, "answer")))
	}
	return exchange, answers, at
}

// opened returns the id of the open HTTP step; 0 if there is none.
func opened(t *testing.T, exchange *Exchange) int64 {
	t.Helper()
	var found step
	must(t, json.Unmarshal(exchange.Payload(), &found))
	return found.HTTP.ID
}

func TestExchangeSteps(t *testing.T) {
	exchange, answers, at := begin(t, "a Sandbox receipt at production")
	first := exchange.Document()
	if exchange.Done() || exchange.StepName() != "http" || opened(t, exchange) != 1 {
		t.Fatalf("done %v, step %q", exchange.Done(), exchange.StepName())
	}
	var value map[string]any
	must(t, json.Unmarshal([]byte(answers[0]), &value))
	second, err := exchange.Step(ctx, value, at)
	must(t, err)
	if second == first || exchange.Document() != second || exchange.Done() ||
		opened(t, exchange) != 2 || !exchange.handle.Open() {
		t.Error("the second step is not open")
	}
	if document, err := exchange.Step(ctx, answers[1], at); err != nil || !document.OK() ||
		!exchange.Done() || exchange.handle.Open() {
		t.Errorf("the last step: %v, done %v", err, exchange.Done())
	}
	if _, err := exchange.Step(ctx, answers[1], at); err != ErrExchangeOver {
		t.Errorf("a step after the last one: %v", err)
	}
}

func TestExchangeMisuseKeepsTheStepOpen(t *testing.T) {
	exchange, answers, at := begin(t, "HTTP status 400")
	first := exchange.Document()
	for _, wrong := range []string{"{}", "[]", strings.Replace(answers[0], `"id":1`, `"id":2`, 1)} {
		if _, err := exchange.Step(ctx, wrong, at); !errors.Is(err, ErrMisuse) {
			t.Errorf("an answer to another step: %v", err)
		}
		if exchange.Done() || exchange.Document() != first {
			t.Error("the step is not open any more")
		}
	}
	document, err := exchange.Step(ctx, answers[0], at)
	if err != nil || document.Status().Family() != ErrRejected || !exchange.Done() {
		t.Errorf("a refused result is an answer: %v", err)
	}
	if exchange.handle.Open() {
		t.Error("the library's exchange is kept")
	}
}

// No input makes the library report an internal error: the test makes a document with it.
func TestExchangeInternalError(t *testing.T) {
	exchange, _, _ := begin(t, "a good answer")
	answer, _, _ := libassay.NewExchange(
		&newVerifier(t).handle, libassay.Given("{}"), nil, moment.UnixMilli())
	answer.Status = libassay.Internal
	if _, err := exchange.took(answer); !errors.Is(err, ErrInternal) || !exchange.Done() ||
		exchange.handle.Open() {
		t.Errorf("a bug: %v, done %v", err, exchange.Done())
	}
}

func TestExchangeBusy(t *testing.T) {
	exchange, answers, at := begin(t, "a good answer")
	exchange.stepping.Lock() // as a step does
	if _, err := exchange.Step(ctx, answers[0], at); err != ErrExchangeBusy {
		t.Errorf("a step during another: %v", err)
	}
	exchange.stepping.Unlock()
	if document, err := exchange.Step(ctx, answers[0], at); err != nil || !document.OK() {
		t.Errorf("the next step: %v", err)
	}
}

// An exchange is closed while others are in Step, most of them in the library.
func TestExchangeCloseDuringSteps(t *testing.T) {
	long := `{"id":2,"status":200,"body":{"text":"` + strings.Repeat(" ", 1<<18) + `"}}`
	for i := 0; i < 10; i++ {
		exchange, _, at := begin(t, "a good answer")
		closedWhile(t, 4, time.Duration(i)*50*time.Microsecond, ErrExchangeOver, func() error {
			_, err := exchange.Step(ctx, long, at)
			if err == ErrExchangeBusy || errors.Is(err, ErrMisuse) { // a reply to another step
				return nil
			}
			return err
		}, exchange.Close)
		if !exchange.Done() || exchange.handle.Open() {
			t.Error("the exchange is not closed")
		}
	}
}

func TestExchangeRun(t *testing.T) {
	const name = "a Sandbox receipt at production"
	exchange, answers, at := begin(t, name)
	carried := 0
	document, err := exchange.Run(ctx, func(_ context.Context, x *Exchange) (any, error) {
		carried++
		if x != exchange || opened(t, x) != int64(carried) {
			t.Errorf("step %d is %s", carried, x.Payload())
		}
		return answers[carried-1], nil
	}, at)
	if err != nil || !document.OK() || carried != 2 {
		t.Errorf("driven to %v, %v, in %d steps", document, err, carried)
	}
	exchange, _, _ = begin(t, name)
	cancelled, cancel := context.WithCancel(ctx)
	carried = 0
	_, err = exchange.Run(cancelled, func(context.Context, *Exchange) (any, error) {
		if carried++; carried == 2 {
			cancel()
		}
		return answers[carried-1], nil
	}, at)
	if err != context.Canceled || carried != 2 || opened(t, exchange) != 2 || !exchange.Done() ||
		exchange.handle.Open() {
		t.Errorf("cancelled: %v, after %d steps, %s", err, carried, exchange.Payload())
	}
	failed := errors.New("no network")
	exchange, _, _ = begin(t, name)
	_, err = exchange.Run(ctx, func(context.Context, *Exchange) (any, error) { return nil, failed })
	if err != failed || !exchange.Done() || exchange.handle.Open() {
		t.Errorf("a carrier that fails: %v", err)
	}
}
