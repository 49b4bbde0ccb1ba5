package assay

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// A Sender runs the HTTP and wait steps of an exchange with net/http: its method Send is a
// StepRunner.
//
//	exchange, err := verifier.Exchange(ctx, request, nil)
//	document, err := exchange.Run(ctx, new(assay.Sender).Send)
//
// The zero Sender verifies certificates, follows no redirects, keeps no cookies and uses no
// proxy from the environment. Goroutines may share one.
type Sender struct {
	// Client replaces the Sender's own client; of an *http.Client only the transport is used,
	// not its redirects or cookies.
	Client interface {
		Do(*http.Request) (*http.Response, error)
	}
	// MaxWait is the longest wait before a step; 0 means 30 s. If Apple asks for more, Send
	// returns ErrTooLong.
	MaxWait time.Duration
	// Hosts replaces a host by another address, only for tests: {"buy.itunes.apple.com":
	// "http://127.0.0.1:8080"}. Loopback addresses only.
	Hosts map[string]string
	// Log is called with one line for each request, as log.Printf would be: method, host,
	// path, status and duration, nothing else. Nil means no log.
	Log func(format string, values ...any)
}

// ErrTooLong is the error of a wait that is longer than a Sender's MaxWait: put
// `exchange.retry` of the exchange's document into your own queue.
var ErrTooLong = errors.New("assay: the next step is too far away")

const (
	standardMaxWait = 30 * time.Second
	// A reply is JSON of at most 8 MiB (EXC-5): a body of this size fits into it as base64.
	answerRoom = (8<<20 - 4096) / 4 * 3
	// A longer body is always passed as base64 (EXC-20).
	textRoom = 1 << 20
)

// direct follows no redirect, keeps no cookie and uses no proxy.
var direct = &http.Client{
	Transport:     &http.Transport{Proxy: nil, DisableCompression: true, DisableKeepAlives: true},
	CheckRedirect: stay,
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// A step is the part of a document that the Sender reads.
type step struct {
	Step        string      `json:"step"`
	NotBeforeMs int64       `json:"notBeforeMs"`
	HTTP        httpRequest `json:"http"`
}

type httpRequest struct {
	ID               int64       `json:"id"`
	Method           string      `json:"method"`
	URL              string      `json:"url"`
	Headers          [][2]string `json:"headers"`
	Body             *httpBody   `json:"body"`
	TimeoutMs        int64       `json:"timeoutMs"`
	MaxResponseBytes int64       `json:"maxResponseBytes"`
	ResponseHeaders  []string    `json:"responseHeaders"`
	SensitivePaths   []string    `json:"sensitivePaths"`
}

type httpBody struct {
	Text   *string `json:"text,omitempty"`
	Base64 *string `json:"base64,omitempty"`
}

type httpAnswer struct {
	ID        int64       `json:"id"`
	Status    int         `json:"status"`
	Headers   [][2]string `json:"headers,omitempty"`
	Body      *httpBody   `json:"body"`
	Truncated bool        `json:"truncated,omitempty"`
}

// Send sends the request of the open step, or waits as long as the step requires. The error is
// ErrTooLong, the context's, or that of a step that is neither http nor wait. A request
// without a response is not an error: the exchange decides how to continue.
func (s *Sender) Send(ctx context.Context, exchange *Exchange) (answer any, err error) {
	var open step
	if err := json.Unmarshal(exchange.Payload(), &open); err != nil {
		return nil, fmt.Errorf("assay: the step cannot be read: %w", err)
	}
	switch open.Step {
	case "http":
		begin := time.Now()
		found, err := s.sendRequest(ctx, &open.HTTP)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, errHosts) {
			return nil, err
		}
		if err != nil {
			found = &httpAnswer{ID: open.HTTP.ID}
		}
		s.note(&open.HTTP, found.Status, time.Since(begin))
		return found, nil
	case "wait":
		return struct{}{}, s.wait(ctx, time.UnixMilli(open.NotBeforeMs))
	}
	return nil, fmt.Errorf("assay: the step %q is not a request", open.Step)
}

func (s *Sender) wait(ctx context.Context, until time.Time) error {
	maxWait := s.MaxWait
	if maxWait == 0 {
		maxWait = standardMaxWait
	}
	left := time.Until(until)
	if left > maxWait {
		return ErrTooLong
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sendRequest returns the response to one request; an error if none arrived.
func (s *Sender) sendRequest(ctx context.Context, asked *httpRequest) (*httpAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(asked.TimeoutMs)*time.Millisecond)
	defer cancel()
	request, err := s.request(ctx, asked)
	if err != nil {
		return nil, err
	}
	response, err := s.do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	room := asked.MaxResponseBytes
	if room > answerRoom {
		room = answerRoom
	}
	content, err := decoded(response)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(content, room+1))
	if err != nil {
		return nil, err
	}
	answer := &httpAnswer{ID: asked.ID, Status: response.StatusCode}
	for _, name := range asked.ResponseHeaders {
		if value := response.Header.Get(name); value != "" {
			answer.Headers = append(answer.Headers, [2]string{name, value})
		}
	}
	if answer.Truncated = int64(len(body)) > room; !answer.Truncated {
		answer.Body = bodyOf(body)
	}
	return answer, nil
}

// decoded returns the body of a response without its content coding, so that the limit counts
// decoded bytes (EXC-19). The request asks for no coding.
func decoded(response *http.Response) (io.Reader, error) {
	switch coding := response.Header.Get("Content-Encoding"); strings.ToLower(coding) {
	case "", "identity":
		return response.Body, nil
	case "gzip":
		return gzip.NewReader(response.Body)
	default:
		return nil, fmt.Errorf("assay: the answer has a coding that nobody asked for")
	}
}

// note logs the line of one request (EXC-22).
func (s *Sender) note(asked *httpRequest, status int, took time.Duration) {
	address, err := url.Parse(asked.URL)
	if s.Log == nil || err != nil {
		return
	}
	path := address.Path
	for _, secret := range asked.SensitivePaths {
		if secret == "url" {
			path = ""
		}
	}
	s.Log("%s %s%s %d %d ms", asked.Method, address.Hostname(), path, status,
		took.Milliseconds())
}

func (s *Sender) do(request *http.Request) (*http.Response, error) {
	switch client := s.Client.(type) {
	case nil:
		return direct.Do(request)
	case *http.Client:
		// Without a transport of its own it would use the proxies of the environment.
		own := http.Client{Transport: client.Transport, CheckRedirect: stay}
		if own.Transport == nil {
			own.Transport = direct.Transport
		}
		return own.Do(request)
	default:
		return client.Do(request)
	}
}

func (s *Sender) request(ctx context.Context, asked *httpRequest) (*http.Request, error) {
	address, err := url.Parse(asked.URL)
	if err != nil {
		return nil, err
	}
	host := address.Host
	for name, instead := range s.Hosts {
		base, err := loopback(instead)
		if err != nil {
			return nil, err
		}
		if name == address.Hostname() {
			address.Scheme, address.Host = base.Scheme, base.Host
		}
	}
	body, err := asked.Body.octets()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(
		ctx, asked.Method, address.String(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Host = host
	request.Header.Set("Accept-Encoding", "identity")
	for _, header := range asked.Headers {
		request.Header.Set(header[0], header[1])
	}
	return request, nil
}

func (b *httpBody) octets() (string, error) {
	switch {
	case b == nil:
		return "", nil
	case b.Text != nil:
		return *b.Text, nil
	case b.Base64 == nil:
		return "", errors.New("assay: a body without text")
	}
	octets, err := base64.StdEncoding.DecodeString(*b.Base64)
	return string(octets), err
}

func bodyOf(body []byte) *httpBody {
	// A text in a reply must not contain a NUL.
	if len(body) <= textRoom && utf8.Valid(body) && bytes.IndexByte(body, 0) < 0 {
		text := string(body)
		return &httpBody{Text: &text}
	}
	text := base64.StdEncoding.EncodeToString(body)
	return &httpBody{Base64: &text}
}

// errHosts is the error of a base address that is not a loopback address.
var errHosts = fmt.Errorf(
	"%w: Hosts: only addresses of this machine, http://127.0.0.1:PORT", ErrArgument)

// loopback parses a base address, which must be a loopback address.
func loopback(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") ||
		(base.Path != "" && base.Path != "/") {
		return nil, errHosts
	}
	name := base.Hostname()
	if ip := net.ParseIP(name); name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, errHosts
	}
	return base, nil
}
