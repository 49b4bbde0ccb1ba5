package assay

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"assay.example/bindings/go/internal/libassay"
)

// The steps are played by functions in place of the library's, with documents of the
// library's own; sender_test.go has a real conversation.

const riskRequest = `{"kind":"risk.assess",
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
	if new(Exchange).Payload() != nil || new(Exchange).State() != "" {
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

func TestNormalKeyID(t *testing.T) {
	verifier := newVerifier(t)
	octets := make([]byte, 32)
	for place := range octets {
		octets[place] = byte(251 - 7*place)
	}
	normal := base64.StdEncoding.EncodeToString(octets)
	url := base64.RawURLEncoding.EncodeToString(octets)
	if normal[:43] == url {
		t.Fatal("the two forms do not differ")
	}
	digits := hex.EncodeToString(octets)
	for _, form := range []string{normal, url, digits, strings.ToUpper(digits)} {
		if text, err := verifier.NormalKeyID(ctx, form); err != nil || text != normal {
			t.Errorf("%s gives %q, %v", form, text, err)
		}
	}
	for _, wrong := range []string{"", normal[:43], url + "=", normal + "\n", "\xff"} {
		if _, err := verifier.NormalKeyID(ctx, wrong); !errors.Is(err, ErrMalformed) {
			t.Errorf("the key id %q: %v", wrong, err)
		}
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
	_, err = verifier.AssessRisk(ctx, `{"request":"paid","attestation":"unsuported"}`)
	if !errors.Is(err, ErrMalformed) {
		t.Errorf("a misspelt observation: %v", err)
	}
	if _, err := verifier.AssessRisk(ctx, `{}},"kind":{"x":1`); !errors.Is(err, ErrArgument) {
		t.Errorf("observations that are no JSON: %v", err)
	}
	if text, err := verifier.CheckDeviceToken(ctx, DeviceTokenText([]byte("token"))); err != nil ||
		text != "dG9rZW4=" {
		t.Errorf("the token is %q, %v", text, err)
	}
	for _, token := range []string{"", "!", "\xff"} {
		if _, err := verifier.CheckDeviceToken(ctx, token); !errors.Is(err, ErrMalformed) {
			t.Errorf("the token %q: %v", token, err)
		}
	}
	_, err = verifier.ReadDeviceCheck(ctx, DeviceAnswer{Call: DeviceQuery, Status: 200})
	if !errors.Is(err, ErrConfig) {
		t.Errorf("without the block: %v", err)
	}
	cases := theCases(t)
	configured := cases.verifier(t, "device-check")
	answer := DeviceAnswer{Call: DeviceQuery, Status: 200, Offer: true,
		Body: []byte(`{"bit0":false,"bit1":true,"last_update_time":"2026-05"}`)}
	found, err := configured.ReadDeviceCheck(ctx, answer, At(moment))
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
	_, err = configured.ReadDeviceCheck(ctx, answer, At(moment))
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

// A host plays the library's calls with a list of statuses.
type host struct {
	t        *testing.T
	verifier *Verifier
	statuses []int32
	answers  []string
	freed    atomic.Int32
	inside   chan struct{}
	goOn     chan struct{}
	made     byte
}

func (h *host) answer() libassay.Answer {
	answer, _, _ := libassay.NewExchange(
		&h.verifier.handle, libassay.Given("{}"), nil, moment.UnixMilli())
	answer.Status, h.statuses = h.statuses[0], h.statuses[1:]
	answer.JSON = `{"kind":"exchange","exchange":{"state":"request","request":{"id":1}}}`
	return answer
}

func (h *host) step(_ *libassay.Handle, answer libassay.Text, _ int64) (libassay.Answer, bool) {
	if h.inside != nil {
		h.inside <- struct{}{}
		<-h.goOn
	}
	h.answers = append(h.answers, answer.String())
	return h.answer(), true
}

// play starts an exchange whose first document and steps have these statuses.
func play(t *testing.T, statuses ...int32) (*host, *Exchange) {
	t.Helper()
	h := &host{t: t, verifier: newVerifier(t), statuses: statuses}
	before := exchanges
	t.Cleanup(func() { exchanges = before })
	exchanges = exchangeLibrary{
		start: func(*libassay.Handle, libassay.Text, []*libassay.Handle, int64) (
			libassay.Answer, libassay.Object, libassay.Closed,
		) {
			made := libassay.NewObject(
				unsafe.Pointer(&h.made), func(unsafe.Pointer) { h.freed.Add(1) })
			return h.answer(), made, libassay.NoneClosed
		},
		step: h.step,
	}
	exchange, err := h.verifier.Exchange(ctx, riskRequest, nil)
	must(t, err)
	return h, exchange
}

func TestExchangeSteps(t *testing.T) {
	h, exchange := play(t, libassay.Pending, libassay.Pending, libassay.OK)
	first := exchange.Document()
	if exchange.Done() || exchange.State() != "request" || h.freed.Load() != 0 {
		t.Fatalf("done %v, state %q", exchange.Done(), exchange.State())
	}
	second, err := exchange.Step(ctx, map[string]int{"id": 1})
	must(t, err)
	if second == first || exchange.Document() != second || exchange.Done() {
		t.Error("the second step is not open")
	}
	if _, err := exchange.Step(ctx, `{"id":2}`); err != nil || !exchange.Done() {
		t.Errorf("the last step: %v, done %v", err, exchange.Done())
	}
	if h.freed.Load() != 1 || len(h.answers) != 2 || h.answers[0] != `{"id":1}` {
		t.Errorf("given back %d times, answers %q", h.freed.Load(), h.answers)
	}
}

func TestExchangeMisuseKeepsTheStepOpen(t *testing.T) {
	h, exchange := play(t, libassay.Pending, libassay.Misuse, libassay.Rejected)
	first := exchange.Document()
	if _, err := exchange.Step(ctx, "{}"); !errors.Is(err, ErrMisuse) {
		t.Errorf("an answer to another step: %v", err)
	}
	if exchange.Done() || exchange.Document() != first {
		t.Error("the step is not open any more")
	}
	document, err := exchange.Step(ctx, "{}")
	if err != nil || document.Status() != libassay.Rejected || !exchange.Done() {
		t.Errorf("a refused result is an answer: %v", err)
	}
	if h.freed.Load() != 1 {
		t.Errorf("given back %d times", h.freed.Load())
	}
}

func TestExchangeInternalError(t *testing.T) {
	_, exchange := play(t, libassay.Pending, libassay.Internal)
	if _, err := exchange.Step(ctx, "{}"); !errors.Is(err, ErrInternal) || !exchange.Done() {
		t.Errorf("a bug: %v, done %v", err, exchange.Done())
	}
}

func TestExchangeBusyAndClose(t *testing.T) {
	h, exchange := play(t, libassay.Pending, libassay.Pending)
	h.inside, h.goOn = make(chan struct{}), make(chan struct{})
	ended := make(chan error)
	go func() {
		_, err := exchange.Step(ctx, "{}")
		ended <- err
	}()
	<-h.inside
	if _, err := exchange.Step(ctx, "{}"); err != ErrExchangeBusy {
		t.Errorf("a step during another: %v", err)
	}
	exchange.Close()
	close(h.goOn)
	must(t, <-ended)
	if _, err := exchange.Step(ctx, "{}"); err != ErrExchangeOver {
		t.Errorf("a step after Close: %v", err)
	}
	if h.freed.Load() != 1 {
		t.Errorf("given back %d times", h.freed.Load())
	}
}

func TestExchangeRun(t *testing.T) {
	h, exchange := play(t, libassay.Pending, libassay.Pending, libassay.OK)
	document, err := exchange.Run(ctx, func(_ context.Context, x *Exchange) (any, error) {
		return map[string]string{"state": x.State()}, nil
	})
	if err != nil || !document.OK() || len(h.answers) != 2 ||
		h.answers[1] != `{"state":"request"}` {
		t.Errorf("driven to %v, %v, %q", document, err, h.answers)
	}
	h, exchange = play(t, libassay.Pending, libassay.Pending, libassay.Pending)
	cancelled, cancel := context.WithCancel(ctx)
	_, err = exchange.Run(cancelled, func(context.Context, *Exchange) (any, error) {
		if len(h.answers) == 1 {
			cancel()
		}
		return "{}", nil
	})
	if err != context.Canceled || len(h.answers) != 1 || !exchange.Done() || h.freed.Load() != 1 {
		t.Errorf("cancelled: %v, %d answers", err, len(h.answers))
	}
	failed := errors.New("no network")
	_, exchange = play(t, libassay.Pending)
	_, err = exchange.Run(ctx, func(context.Context, *Exchange) (any, error) { return nil, failed })
	if err != failed || !exchange.Done() {
		t.Errorf("a carrier that fails: %v", err)
	}
}

// An exchange that was never closed is freed by the garbage collector.
func TestExchangeFinalizer(t *testing.T) {
	h, exchange := play(t, libassay.Pending)
	_ = exchange.Done()
	exchange = nil
	eventually(t, "the exchange is given back", func() bool { return h.freed.Load() == 1 })
	time.Sleep(time.Millisecond)
	if h.freed.Load() != 1 {
		t.Errorf("given back %d times", h.freed.Load())
	}
}
