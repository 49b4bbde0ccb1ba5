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

// DynamoDB carries out calls of DynamoDB's HTTP interface, whose JSON the library writes.
// Only the signature is the SDK's, so that this module needs none:
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
	// In place of the region's own address.
	Endpoint string
	// Sign signs a request; hash is the SHA-256 of its body in hex digits.
	Sign func(ctx context.Context, request *http.Request, hash string) error
	// Client sends; nil: one of its own. It must repeat nothing by itself.
	Client interface {
		Do(*http.Request) (*http.Response, error)
	}
	// Timeout of a call; 0: the limit of a statement that the step names, 5 s.
	Timeout time.Duration
}

// A Condition is one that failed.
type Condition struct {
	Type    string          `json:"type"`
	Item    json.RawMessage `json:"item,omitempty"`
	Reasons []Reason        `json:"reasons,omitempty"`
}

// A Reason is why an item of a transaction did not go through; "None" where it would have.
type Reason struct {
	Code string          `json:"code"`
	Item json.RawMessage `json:"item,omitempty"`
}

const (
	conditionFailed = "ConditionalCheckFailedException"
	cancelled       = "TransactionCanceledException"
	// What DynamoDB answers is at most 1 MB of items; as JSON more.
	dynamoRoom = 8 << 20
)

var dynamoClient = &http.Client{Transport: &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 64,
	IdleConnTimeout: 30 * time.Second,
	DialContext:     (&net.Dialer{Timeout: time.Second}).DialContext}}

// EngineName is the engine.
func (d *DynamoDB) EngineName() string { return "dynamodb" }

// Session is for one exchange.
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

// Commit writes a claim and what its grant appended, both or neither.
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

// call sends one call, with the limits of a step that names none.
func (d *DynamoDB) call(ctx context.Context, api string, input []byte) (CallResult, *Failure) {
	return d.within(ctx, (&Step{}).limits(), api, input)
}

// within sends one call; a failure without code brought nothing back.
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
		// Nobody was reached (STO-77).
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

// refused reads an answer that is no success: a condition that failed is a result.
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

// LeaveGrant has nothing to ask: a grant only appends.
func (s *dynamoSession) LeaveGrant(error) *Reply { return nil }

// Rollback forgets what a grant would have written.
func (s *dynamoSession) Rollback() { s.items = nil }

func (s *dynamoSession) Close() { s.items = nil }
