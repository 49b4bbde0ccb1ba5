package assay

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Tests of the sender against `assay mock-apple` and its faults (PLY-7), with the table of
// Tests/CLI/faults.py that all bindings use.

const (
	benchProgram  = "../../Tests/CLI/faults.py"
	cliVariable   = "ASSAY_CLI"
	longestAnswer = 2 * time.Second
)

// A bench is a running mock Apple, and the expected outcome of each fault.
type bench struct {
	URL        string
	CA         string
	ExpiredURL string
	Hosts      map[string]string
	Config     json.RawMessage
	Now        int64
	Answers    []answerTest
	Exchanges  []exchangeTest
}

type answerTest struct {
	Name    string
	Rules   json.RawMessage
	Request httpRequest
	Late    bool
	httpAnswer
}

type exchangeTest struct {
	Name     string
	Rules    json.RawMessage
	Request  json.RawMessage
	Status   string
	Requests int
}

// playFaults starts mock Apple, which ends with the test.
func playFaults(t *testing.T, options ...string) *bench {
	t.Helper()
	if os.Getenv(cliVariable) == "" {
		t.Skip(cliVariable + " does not name the command line: nothing plays Apple")
	}
	command := exec.Command("python3",
		append([]string{benchProgram, os.Getenv(cliVariable)}, options...)...)
	input, err := command.StdinPipe()
	must(t, err)
	output, err := command.StdoutPipe()
	must(t, err)
	command.Stderr = os.Stderr
	must(t, command.Start())
	t.Cleanup(func() {
		_ = input.Close()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(output).ReadBytes('\n')
	must(t, err)
	found := new(bench)
	must(t, json.Unmarshal(line, found))
	return found
}

// play changes what mock Apple answers, and returns its response.
func (b *bench) play(t *testing.T, name string, body []byte) []byte {
	t.Helper()
	response, err := direct.Post(b.URL+"/play/"+name, "application/json", bytes.NewReader(body))
	must(t, err)
	defer response.Body.Close()
	found, err := io.ReadAll(response.Body)
	must(t, err)
	if response.StatusCode != 200 {
		t.Fatalf("%s %s: %d, %s", name, body, response.StatusCode, found)
	}
	return found
}

// sent returns the response that a sender gets to a request; status 0 without a response.
func (a *answerTest) sent(sender *Sender) httpAnswer {
	answer, err := sender.sendRequest(ctx, &a.Request)
	if err != nil {
		return httpAnswer{}
	}
	answer.ID = 0
	return *answer
}

func TestSenderFaults(t *testing.T) {
	bench := playFaults(t)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	for _, client := range []*http.Client{nil, {}} {
		sender := &Sender{Hosts: bench.Hosts}
		if client != nil {
			sender.Client = client
		}
		for i := range bench.Answers {
			each := &bench.Answers[i]
			bench.play(t, "script", each.Rules)
			wanted := each.httpAnswer
			if len(wanted.Headers) == 0 {
				wanted.Headers = nil
			}
			begin := time.Now()
			found := each.sent(sender)
			if !reflect.DeepEqual(found, wanted) {
				t.Errorf("%s: %s", each.Name, text(t, found))
			}
			if took := time.Since(begin); each.Late && took > longestAnswer {
				t.Errorf("%s: %v", each.Name, took)
			}
		}
	}
}

func text(t *testing.T, value any) []byte {
	t.Helper()
	found, err := json.Marshal(value)
	must(t, err)
	if len(found) > 300 {
		found = found[:300]
	}
	return found
}

// Asserts that an exchange with a fault ends as in the table, after that many requests.
func TestExchangesWithFaults(t *testing.T) {
	bench := playFaults(t)
	verifier, err := NewVerifier(bench.Config)
	must(t, err)
	defer verifier.Close()
	sender := &Sender{Hosts: bench.Hosts}
	for i := range bench.Exchanges {
		each := &bench.Exchanges[i]
		bench.play(t, "script", each.Rules)
		now := At(time.UnixMilli(bench.Now))
		exchange, err := verifier.Exchange(ctx, each.Request, nil, now)
		must(t, err)
		requests := 0
		for !exchange.Done() {
			var open step
			must(t, json.Unmarshal(exchange.Payload(), &open))
			var answer any = struct{}{}
			if open.Step == "wait" { // the clock is moved instead of waiting
				now = At(time.UnixMilli(open.NotBeforeMs))
			} else {
				requests++
				answer, err = sender.Send(ctx, exchange)
				must(t, err)
			}
			_, err = exchange.Step(ctx, answer, now)
			must(t, err)
		}
		if found := exchange.Document().Status().String(); found != each.Status ||
			requests != each.Requests {
			t.Errorf("%s: %s after %d", each.Name, found, requests)
		}
	}
}

// Asserts that a certificate of the test authority is trusted only where configured, and not
// after its expiry (PLY-4).
func TestSenderCertificates(t *testing.T) {
	bench := playFaults(t, "--tls")
	pem, err := os.ReadFile(bench.CA)
	must(t, err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatalf("%s has no certificate", bench.CA)
	}
	told := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	request := httpRequest{ID: 7, Method: "GET", URL: "https://appleid.apple.com/auth/keys",
		TimeoutMs: 5000, MaxResponseBytes: 1 << 16}
	for _, each := range []struct {
		url    string
		client *http.Client
		good   bool
	}{
		{bench.URL, told, true}, {bench.URL, direct, false}, {bench.ExpiredURL, told, false},
	} {
		sender := &Sender{
			Hosts: map[string]string{"appleid.apple.com": each.url}, Client: each.client,
		}
		answer, err := sender.sendRequest(ctx, &request)
		if (err == nil) != each.good || err == nil && answer.Status != 200 {
			t.Errorf("%s: %v, wanted %t", each.url, err, each.good)
		}
	}
}

// Asserts that neither the log nor fmt prints a secret of a step (EXC-22).
func TestNothingSecretIsPrinted(t *testing.T) {
	cases, seen, lines := theCases(t), 0, 0
	line := regexp.MustCompile(`(?m)^(GET|POST|PUT|DELETE) [^ ]+ 0 \d+ ms$`)
	var logged strings.Builder
	sender := &Sender{
		Hosts: map[string]string{}, MaxWait: 1,
		Log: func(format string, values ...any) { fmt.Fprintf(&logged, format+"\n", values...) },
	}
	for i := range cases.Cases {
		each := &cases.Cases[i]
		if each.Call != "transcript" || !cases.kept(i) {
			continue
		}
		exchange, err := cases.verifier(t, each.Verifier).Exchange(
			ctx, each.input(t, "request"), nil, each.at())
		if err != nil || exchange.Done() {
			continue
		}
		var asked struct{ Receipt, DeviceToken, Code string }
		must(t, json.Unmarshal(each.input(t, "request"), &asked))
		var open step
		must(t, json.Unmarshal(exchange.Payload(), &open))
		if strings.Contains(exchange.Document().JSON(), "Bearer ") {
			seen++
		}
		shown := ""
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			shown += fmt.Sprintf(strings.Repeat(verb+" ", 5), exchange, exchange.Document(),
				exchange.Payload(), &open.HTTP, sender)
		}
		if name, err := url.Parse(open.HTTP.URL); err == nil && name.Host != "" {
			sender.Hosts[name.Host] = "http://127.0.0.1:1"
			_, err = sender.Send(ctx, exchange)
			if !errors.Is(err, ErrTooLong) {
				must(t, err)
			}
		}
		shown += logged.String()
		said := strings.Count(logged.String(), "\n")
		if len(line.FindAllString(logged.String(), -1)) != said {
			t.Fatalf("the log is %s", logged.String())
		}
		lines += said
		logged.Reset()
		for _, secret := range []string{asked.Receipt, asked.DeviceToken, asked.Code, "Bearer ",
			"client_secret", "-----BEGIN", "eyJ"} {
			if secret != "" && strings.Contains(shown, secret) {
				t.Fatalf("%s: %q is shown", each.Name, secret)
			}
		}
		exchange.Close()
	}
	if seen == 0 || lines == 0 {
		t.Errorf("%d steps with a token, %d lines", seen, lines)
	}
}

// printed returns a value, and a slice with the value, printed with all verbs.
func printed(value any) string {
	shown := ""
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		shown += fmt.Sprintf(strings.Repeat(verb+" ", 2), value, []any{value})
	}
	return shown
}

func TestSignedSecretsAreNotPrinted(t *testing.T) {
	held := struct{ Tokens AppleTokens }{AppleTokens{RefreshToken: "eyJ"}}
	hex := fmt.Sprintf("%x %X", "eyJ", "eyJ")
	for _, value := range []any{
		SignedToken{Token: "eyJ"}, &SignedToken{Token: "eyJ"}, &ClientSecret{ClientSecret: "eyJ"},
		&IssuedSession{Text: "eyJ"}, AppleTokens{AccessToken: "eyJ", RefreshToken: "eyJ"},
		&AppleTokens{AccessToken: "eyJ", RefreshToken: "eyJ"}, held,
		httpRequest{URL: "eyJ"}, &httpRequest{URL: "eyJ"}, step{HTTP: httpRequest{URL: "eyJ"}},
		httpAnswer{Headers: [][2]string{{"a", "eyJ"}}},
		Sender{Hosts: map[string]string{"a": "eyJ"}},
		Payload("eyJ"), fmt.Stringer(AppleTokens{RefreshToken: "eyJ"}).String(),
		fmt.GoStringer(AppleTokens{RefreshToken: "eyJ"}).GoString(),
	} {
		shown := printed(value)
		for _, secret := range append(strings.Fields(hex), "eyJ") {
			if strings.Contains(shown, secret) {
				t.Errorf("%T: %s", value, shown)
			}
		}
	}
}
