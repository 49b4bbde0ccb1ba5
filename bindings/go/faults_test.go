package assay

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The sender against the server of faults that all bindings' tests share (PLY-7).

const faultServer = "../python/tests/fault_server.py"

// faults starts the server; it ends with the test. Gives its address. Paths that name no
// fault get those of the script.
func faults(t *testing.T, script ...string) string {
	t.Helper()
	if _, err := os.Stat(faultServer); err != nil {
		t.Skip("the server of faults is not in this folder's repository")
	}
	command := exec.Command("python3", append([]string{faultServer}, script...)...)
	input, err := command.StdinPipe()
	must(t, err)
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	t.Cleanup(func() {
		_ = input.Close()
		_ = command.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	must(t, err)
	return strings.TrimSpace(line)
}

// hit sends one request to a fault; status 0: there is no answer.
func hit(t *testing.T, sender *Sender, fault string, change func(*httpRequest)) *httpAnswer {
	t.Helper()
	answer, err := sent(t, sender, func(r *httpRequest) {
		r.URL = "https://" + appleHosts[0] + "/" + fault + "/v1?sort=a%20b&c"
		r.Headers = [][2]string{{"Authorization", "Bearer shared-secret"}}
		r.MaxResponseBytes = 4096
		if change != nil {
			change(r)
		}
	})
	if err != nil {
		return &httpAnswer{ID: 7}
	}
	return answer
}

func TestSenderFaults(t *testing.T) {
	base := faults(t)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	hosts := map[string]string{appleHosts[0]: base}
	for _, sender := range []*Sender{{Hosts: hosts}, {Hosts: hosts, Client: &http.Client{}}} {
		for _, fault := range []string{"cut", "reset", "half-gzip", "half-chunked", "brotli"} {
			if answer := hit(t, sender, fault, nil); answer.Status != 0 {
				t.Errorf("%s: %d", fault, answer.Status)
			}
		}
		for _, fault := range []string{"slow", "drip", "drip-head"} {
			begin := time.Now()
			answer := hit(t, sender, fault, func(r *httpRequest) { r.TimeoutMs = 200 })
			if answer.Status != 0 || time.Since(begin) > 2*time.Second {
				t.Errorf("%s: %d after %v", fault, answer.Status, time.Since(begin))
			}
		}
		for _, fault := range []string{"good", "gzip", "chunked", "type"} {
			answer := hit(t, sender, fault, nil)
			if answer.Status != 200 || answer.Cut || *answer.Body.Text != `{"good":true}` {
				t.Errorf("%s: %d", fault, answer.Status)
			}
		}
		for _, fault := range []string{"oversize", "bomb"} {
			if answer := hit(t, sender, fault, nil); !answer.Cut || answer.Body != nil {
				t.Errorf("%s: %d, %t", fault, answer.Status, answer.Cut)
			}
		}
		for fault, status := range map[string]int{"redirect": 302, "empty": 204, "unchanged": 304} {
			if answer := hit(t, sender, fault, nil); answer.Status != status {
				t.Errorf("%s: %d", fault, answer.Status)
			}
		}
	}
	checkHits(t, base)
}

func checkHits(t *testing.T, base string) {
	t.Helper()
	direct := &http.Client{Transport: &http.Transport{}}
	response, err := direct.Get(base + "/hits")
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	var found struct {
		Hits map[string]int
		Last struct{ Path string }
	}
	must(t, json.Unmarshal(text, &found))
	if found.Hits["redirect"] != 2 || found.Hits["target"] != 0 ||
		!strings.HasSuffix(found.Last.Path, "/v1?sort=a%20b&c") {
		t.Errorf("%+v", found)
	}
}

func TestSenderRefused(t *testing.T) {
	sender := &Sender{Hosts: map[string]string{appleHosts[0]: "http://127.0.0.1:1"}}
	if answer := hit(t, sender, "good", nil); answer.Status != 0 {
		t.Errorf("nobody listens, and %d", answer.Status)
	}
}

func TestSenderTrustsNoCertificateOfItsOwn(t *testing.T) {
	sender := &Sender{Hosts: map[string]string{appleHosts[0]: faults(t, "--tls")}}
	if answer := hit(t, sender, "good", nil); answer.Status != 0 {
		t.Errorf("a certificate that nobody trusts, and %d", answer.Status)
	}
}

// EXC-22: no line of the log and nothing that fmt prints has a secret of a step.
func TestNothingSecretIsPrinted(t *testing.T) {
	cases, seen, lines := theCases(t), 0, 0
	line := regexp.MustCompile(`(?m)^(GET|POST|PUT) [^ ]+ 0 \d+ ms$`)
	var logged strings.Builder
	sender := &Sender{
		Hosts: map[string]string{}, Patience: 1,
		Log: func(format string, values ...any) { fmt.Fprintf(&logged, format+"\n", values...) },
	}
	for i := range cases.Cases {
		each := &cases.Cases[i]
		if each.Call != "conversation" {
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
				exchange.Payload(), &open.Request, sender)
		}
		if name, err := url.Parse(open.Request.URL); err == nil {
			sender.Hosts[name.Host] = "http://127.0.0.1:1"
			_, err = sender.CarryOut(ctx, exchange)
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

func TestSignedSecretsAreNotPrinted(t *testing.T) {
	for _, value := range []any{
		SignedToken{Token: "eyJ"}, &SignedToken{Token: "eyJ"}, &ClientSecret{ClientSecret: "eyJ"},
		&IssuedSession{Text: "eyJ"},
	} {
		if shown := fmt.Sprintf("%v %+v %#v %s", value, value, value, value); strings.Contains(
			shown, "eyJ") {
			t.Errorf("%T: %s", value, shown)
		}
	}
}
