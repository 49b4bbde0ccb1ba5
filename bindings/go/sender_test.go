package assay

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Tests of exchanges over the network, with a scripted server on loopback.

var appleHosts = []string{"buy.itunes.apple.com", "sandbox.itunes.apple.com"}

// A said is one response of the server.
type said struct {
	status int
	header map[string]string
	body   string
}

// An apple answers each request with the next line of a script.
type apple struct {
	*httptest.Server
	script []said
	hosts  []string
	bodies []string
}

func mockApple(t *testing.T, script ...said) (*apple, *Sender) {
	t.Helper()
	a := &apple{script: script}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.hosts, a.bodies = append(a.hosts, r.Host), append(a.bodies, string(body))
		if len(a.script) == 0 || r.URL.Path != "/verifyReceipt" || r.Method != "POST" ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("asked for %s %s", r.Method, r.URL.Path)
			return
		}
		line := a.script[0]
		a.script = a.script[1:]
		for name, value := range line.header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(line.status)
		_, _ = io.WriteString(w, line.body)
	}))
	t.Cleanup(a.Close)
	sender := &Sender{Hosts: map[string]string{}}
	for _, host := range appleHosts {
		sender.Hosts[host] = a.URL
	}
	return a, sender
}

// transcript returns the transcript of this name in the case table.
func (c *caseTable) transcript(t testing.TB, name string) *tableCase {
	t.Helper()
	for i := range c.Cases {
		each := &c.Cases[i]
		if each.Call == "transcript" && strings.HasSuffix(each.Name, "call-verify-receipt: "+name) {
			return each
		}
	}
	t.Fatalf("the case table has no transcript %q", name)
	return nil
}

// bodies returns the bodies of Apple's responses in a transcript.
func (c *tableCase) bodies(t testing.TB) (found []string) {
	t.Helper()
	for i := range c.Steps {
		var answer httpAnswer
		must(t, json.Unmarshal(c.Steps[i].input(t, "answer"), &answer))
		if answer.Body != nil && answer.Body.Text != nil {
			found = append(found, *answer.Body.Text)
		}
	}
	return found
}

func ask(t *testing.T, each *tableCase, sender *Sender) (*Exchange, *Document, error) {
	t.Helper()
	exchange, err := theCases(t).verifier(t, each.Verifier).Exchange(
		ctx, each.input(t, "request"), nil)
	must(t, err)
	document, err := exchange.Run(ctx, sender.Send)
	return exchange, document, err
}

func TestSenderHops(t *testing.T) {
	each := theCases(t).transcript(t, "a Sandbox receipt at production")
	var script []said
	for _, body := range each.bodies(t) {
		script = append(script, said{status: 200, body: body})
	}
	server, sender := mockApple(t, script...)
	_, document, err := ask(t, each, sender)
	must(t, err)
	if !document.OK() || strings.Join(server.hosts, " ") != strings.Join(appleHosts, " ") {
		t.Fatalf("asked %q: %s", server.hosts, document.JSON())
	}
	facts, err := document.Facts()
	must(t, err)
	if answer := facts.(*VerifyReceiptResponse); answer.AppleStatus != 0 ||
		answer.EnvironmentSource != "endpoint" {
		t.Errorf("the answer is %+v", answer)
	}
	decision, err := theCases(t).verifier(t, each.Verifier).Decide(
		ctx, []Evidence{document})
	must(t, err)
	if !decision.Entitled {
		t.Errorf("a finished exchange is evidence: %+v", decision)
	}
}

func TestSenderWaits(t *testing.T) {
	each := theCases(t).transcript(t, "a good answer")
	good := said{status: 200, body: each.bodies(t)[0]}
	_, sender := mockApple(t, said{status: 500}, good)
	begin := time.Now()
	_, document, err := ask(t, each, sender)
	must(t, err)
	if took := time.Since(begin); !document.OK() || took < time.Second {
		t.Errorf("after %v: %s", took, document.JSON())
	}
	_, sender = mockApple(t, said{status: 429, header: map[string]string{"Retry-After": "60"}})
	exchange, _, err := ask(t, each, sender)
	if err != ErrTooLong || exchange.StepName() != "wait" || !exchange.Done() {
		t.Errorf("no wait: %v, %s", err, exchange.StepName())
	}
}

// sent returns the response to one request.
func sent(t *testing.T, sender *Sender, change func(*httpRequest)) (*httpAnswer, error) {
	t.Helper()
	text := "{}"
	request := &httpRequest{
		ID: 7, Method: "POST", URL: "https://buy.itunes.apple.com/verifyReceipt",
		Headers: [][2]string{{"Content-Type", "application/json"}}, Body: &httpBody{Text: &text},
		TimeoutMs: 5000, MaxResponseBytes: 10, ResponseHeaders: []string{"etag"},
	}
	if change != nil {
		change(request)
	}
	return sender.sendRequest(ctx, request)
}

// Asserts that path, query and headers are sent unchanged.
func TestSenderRequests(t *testing.T) {
	var seen *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = r
	}))
	defer server.Close()
	sender := &Sender{Hosts: map[string]string{appleHosts[0]: server.URL}}
	_, err := sent(t, sender, func(r *httpRequest) {
		r.Method, r.Body = "GET", nil
		r.URL = "https://" + appleHosts[0] + "/own/v1?sort=a%20b&c"
		r.Headers = [][2]string{{"X-Own", "1"}}
	})
	must(t, err)
	if seen.Method != "GET" || seen.RequestURI != "/own/v1?sort=a%20b&c" ||
		seen.Host != appleHosts[0] || seen.Header.Get("X-Own") != "1" || seen.ContentLength > 0 {
		t.Errorf("asked for %s %s at %s", seen.Method, seen.RequestURI, seen.Host)
	}
}

func TestSenderNoAnswer(t *testing.T) {
	each := theCases(t).transcript(t, "a good answer")
	server, sender := mockApple(t)
	server.Close()
	exchange, err := theCases(t).verifier(t, each.Verifier).Exchange(
		ctx, each.input(t, "request"), nil)
	must(t, err)
	answer, err := sender.Send(ctx, exchange)
	must(t, err)
	if _, err := exchange.Step(ctx, answer); err != nil || exchange.StepName() != "wait" {
		t.Errorf("no answer: %v, %s", err, exchange.StepName())
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := sender.Send(cancelled, exchange); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	exchange.Close()
	if _, err := sender.Send(ctx, new(Exchange)); err == nil {
		t.Error("no exchange has a step")
	}
}

func TestSenderHosts(t *testing.T) {
	for _, base := range []string{
		"http://example.com", "https://10.0.0.1", "ftp://127.0.0.1", "http://127.0.0.1/path",
		"127.0.0.1", "http://127.0.0.1.example.com", "://",
	} {
		sender := &Sender{Hosts: map[string]string{appleHosts[1]: base}}
		if _, err := sent(t, sender, nil); !errors.Is(err, ErrArgument) {
			t.Errorf("%s: %v", base, err)
		}
	}
	for _, base := range []string{"http://localhost:80", "https://[::1]:443", "http://127.1.2.3/"} {
		if _, err := loopback(base); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// An ownClient is a client that is not an *http.Client.
type ownClient struct{ t *testing.T }

func (o ownClient) Do(r *http.Request) (*http.Response, error) {
	if r.URL.Host != appleHosts[0] {
		o.t.Errorf("asked %s", r.URL)
	}
	return nil, errors.New("no network")
}

func TestSenderWithAnOwnClient(t *testing.T) {
	if _, err := sent(t, &Sender{Client: ownClient{t}}, nil); err == nil {
		t.Error("the own client was not asked")
	}
}
