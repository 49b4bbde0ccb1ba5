package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// DynamoDB runs calls of DynamoDB's HTTP interface, whose JSON the library writes. Only the
// signature needs the SDK, so that this module does not depend on it:
//
//	signer := v4.NewSigner()
//	dynamo := &store.DynamoDB{Region: "eu-central-1", Sign: func(
//		ctx context.Context, request *http.Request, hash string,
//	) error {
//		found, err := config.Credentials.Retrieve(ctx)
//		if err != nil {
//			return err
//		}
//		return signer.SignHTTP(ctx, found, request, hash, "dynamodb", "eu-central-1", time.Now())
//	}}
type DynamoDB struct {
	Region string
	// Endpoint replaces the region's own address.
	Endpoint string
	// Sign signs a request; hash is the SHA-256 of its body in lower-case hex.
	Sign func(ctx context.Context, request *http.Request, hash string) error
	// Client sends the requests; nil means a built-in one. It must not retry by itself.
	Client interface {
		Do(*http.Request) (*http.Response, error)
	}
	// Timeout limits one call; 0 means the statement limit of the step, 5 s.
	Timeout time.Duration
}

// A Condition is a condition of a write that failed.
type Condition struct {
	Type    string          `json:"type"`
	Item    json.RawMessage `json:"item,omitempty"`
	Reasons []Reason        `json:"reasons,omitempty"`
}

// A Reason is why an item of a transaction failed; "None" if it did not.
type Reason struct {
	Code string          `json:"code"`
	Item json.RawMessage `json:"item,omitempty"`
}

const (
	conditionFailed = "ConditionalCheckFailedException"
	cancelled       = "TransactionCanceledException"
	// A response has at most 1 MB of items, which are larger as JSON.
	dynamoRoom = 8 << 20
)

var dynamoClient = &http.Client{Transport: &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 64,
	IdleConnTimeout: 30 * time.Second,
	DialContext:     (&net.Dialer{Timeout: time.Second}).DialContext}}

// EngineName returns "dynamodb".
func (d *DynamoDB) EngineName() string { return "dynamodb" }

// Session returns a session for one exchange.
func (d *DynamoDB) Session() Session { return &dynamoSession{store: d} }

type dynamoSession struct {
	store *DynamoDB
	items []json.RawMessage
}

func (s *dynamoSession) Run(ctx context.Context, step *Step) (*Reply, error) {
	answer := &Reply{ID: step.ID, Code: 200}
	for _, call := range step.Calls {
		result, failure := s.store.within(ctx, step.limits(), call.API, call.Input)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case failure == nil:
			answer.Results = append(answer.Results, result)
			continue
		case failure.Code == "":
			return &Reply{ID: step.ID}, nil
		case len(answer.Results) > 0:
			failure.Executed = "unknown"
		}
		return &Reply{ID: step.ID, Code: 500, Error: failure}, nil
	}
	return answer, nil
}

// Commit writes a claim and the items that its grant appended, all or none.
func (s *dynamoSession) Commit(ctx context.Context, item json.RawMessage) (
	CallResult, *Failure, error,
) {
	items := append([]json.RawMessage{item}, s.items...)
	s.items = nil
	input, err := json.Marshal(map[string]any{"TransactItems": items})
	if err != nil {
		return CallResult{}, nil, fmt.Errorf("ledger: an item of the grant: %w", err)
	}
	result, failure := s.store.call(ctx, "TransactWriteItems", input)
	return result, failure, ctx.Err()
}

// call sends one call, with the default limits.
func (d *DynamoDB) call(ctx context.Context, api string, input []byte) (CallResult, *Failure) {
	return d.within(ctx, (&Step{}).limits(), api, input)
}

// within sends one call with these limits; a failure without code means no response.
func (d *DynamoDB) within(ctx context.Context, limits Limits, api string, input []byte) (
	CallResult, *Failure,
) {
	timeout := d.Timeout
	if timeout == 0 {
		timeout = limits.statement()
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := d.request(ctx, api, input)
	if err != nil {
		return CallResult{}, &Failure{Code: "UnrecognizedClientException", Executed: "no"}
	}
	var client interface {
		Do(*http.Request) (*http.Response, error)
	} = dynamoClient
	if d.Client != nil {
		client = d.Client
	}
	response, err := client.Do(request)
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		// No server was reached (STO-77).
		return CallResult{}, &Failure{Code: "connect", Executed: "no"}
	} else if err != nil {
		return CallResult{}, &Failure{}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, dynamoRoom))
	if err != nil || len(body) == dynamoRoom {
		return CallResult{}, &Failure{}
	}
	if response.StatusCode == http.StatusOK {
		return CallResult{Output: body}, nil
	}
	return refused(body)
}

func (d *DynamoDB) request(ctx context.Context, api string, input []byte) (*http.Request, error) {
	endpoint := d.Endpoint
	if endpoint == "" {
		endpoint = "https://dynamodb." + d.Region + ".amazonaws.com/"
	}
	if d.Sign == nil {
		return nil, errors.New("ledger: DynamoDB needs Sign")
	}
	request, err := http.NewRequestWithContext(ctx, "POST", endpoint, bytes.NewReader(input))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+api)
	hash := sha256.Sum256(input)
	return request, d.Sign(ctx, request, hex.EncodeToString(hash[:]))
}

// refused reads an error response: a failed condition is a result, not a failure.
func refused(body []byte) (CallResult, *Failure) {
	var said struct {
		Type    string          `json:"__type"`
		Item    json.RawMessage `json:"Item"`
		Reasons []struct {
			Code string          `json:"Code"`
			Item json.RawMessage `json:"Item"`
		} `json:"CancellationReasons"`
	}
	if json.Unmarshal(body, &said) != nil || said.Type == "" {
		return CallResult{}, &Failure{}
	}
	kind := said.Type[strings.LastIndexByte(said.Type, '#')+1:]
	switch kind {
	case conditionFailed:
		return CallResult{Error: &Condition{Type: kind, Item: said.Item}}, nil
	case cancelled:
		found := &Condition{Type: kind, Reasons: []Reason{}}
		for _, each := range said.Reasons {
			if each.Code == "" {
				each.Code = "None"
			}
			found.Reasons = append(found.Reasons, Reason{Code: each.Code, Item: each.Item})
		}
		return CallResult{Error: found}, nil
	case "InternalServerError", "ServiceUnavailable":
		return CallResult{}, &Failure{Code: kind, Executed: "unknown"}
	}
	return CallResult{}, &Failure{Code: kind, Executed: "no"}
}

func (s *dynamoSession) EnterGrant(context.Context) Target { return Target{Items: &s.items} }

// LeaveGrant returns nil: a grant only appends items, so it cannot end the transaction.
func (s *dynamoSession) LeaveGrant(error) *Reply { return nil }

// Rollback discards the items that a grant appended.
func (s *dynamoSession) Rollback() { s.items = nil }

func (s *dynamoSession) Close() { s.items = nil }
