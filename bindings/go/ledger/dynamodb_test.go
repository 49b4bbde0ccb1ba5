package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// dynamo starts a server that answers each call with the next line of a script.
func dynamo(t *testing.T, script ...string) (*DynamoDB, func() []string) {
	t.Helper()
	var heard []string
	var mutex sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mutex.Lock()
		heard = append(heard, r.Header.Get("X-Amz-Target")+" "+string(body))
		mutex.Unlock()
		if len(script) == 0 || r.Header.Get("Authorization") == "" {
			t.Errorf("asked for %s", r.Header)
			return
		}
		status, text, _ := strings.Cut(script[0], " ")
		script = script[1:]
		switch status {
		case "slow":
			<-r.Context().Done()
		case "400":
			w.WriteHeader(400)
		case "500":
			w.WriteHeader(500)
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return &DynamoDB{Endpoint: server.URL, Timeout: 200 * time.Millisecond, Sign: func(
			_ context.Context, request *http.Request, hash string) error {
			request.Header.Set("Authorization", hash)
			return nil
		}}, func() []string {
			mutex.Lock()
			defer mutex.Unlock()
			return append([]string{}, heard...)
		}
}

func call(api, input string) Call { return Call{API: api, Input: json.RawMessage(input)} }

func TestDynamoDB(t *testing.T) {
	const kind = `{"__type":"com.amazonaws.dynamodb.v20120810#`
	for _, each := range []struct{ name, says, wanted string }{
		{"an output", `200 {"Item":{"n":{"N":"1"}}}`,
			`{"id":7,"code":200,"results":[{"output":{"Item":{"n":{"N":"1"}}}}]}`},
		{"a condition", `400 ` + kind + `ConditionalCheckFailedException","Item":{"n":{"N":"1"}}}`,
			`{"id":7,"code":200,"results":[{"error":{"type":"ConditionalCheckFailedException",` +
				`"item":{"n":{"N":"1"}}}}]}`},
		{"a condition on nothing", `400 ` + kind + `ConditionalCheckFailedException"}`,
			`{"id":7,"code":200,"results":[{"error":{"type":"ConditionalCheckFailedException"}}]}`},
		{"a transaction", `400 ` + kind + `TransactionCanceledException","CancellationReasons":` +
			`[{"Code":"None"},{},{"Code":"ConditionalCheckFailed","Item":{"n":{"N":"1"}}}]}`,
			`{"id":7,"code":200,"results":[{"error":{"type":"TransactionCanceledException",` +
				`"reasons":[{"code":"None"},{"code":"None"},{"code":"ConditionalCheckFailed",` +
				`"item":{"n":{"N":"1"}}}]}}]}`},
		{"too many", `400 ` + kind + `ProvisionedThroughputExceededException"}`,
			`{"id":7,"code":500,"error":{"code":"ProvisionedThroughputExceededException",` +
				`"executed":"no"}}`},
		{"nobody knows", `500 ` + kind + `InternalServerError"}`,
			`{"id":7,"code":500,"error":{"code":"InternalServerError","executed":"unknown"}}`},
		{"no JSON", `500 <html>`, `{"id":7,"code":0}`},
		{"too late", `slow `, `{"id":7,"code":0}`},
	} {
		executor, heard := dynamo(t, each.says)
		session := executor.Session()
		answer, err := session.Run(context.Background(),
			&Step{ID: 7, Calls: []Call{call("GetItem", `{"TableName":"t"}`)}})
		if err != nil {
			t.Fatal(err)
		}
		session.Close()
		if text, _ := json.Marshal(answer); string(text) != each.wanted {
			t.Errorf("%s: %s, not %s", each.name, text, each.wanted)
		}
		if len(heard()) != 1 || heard()[0] != `DynamoDB_20120810.GetItem {"TableName":"t"}` {
			t.Errorf("%s: asked %q", each.name, heard())
		}
	}
}

// Asserts that a failure after a first executed call is not reported as not executed.
func TestDynamoDBInTheMiddle(t *testing.T) {
	executor, _ := dynamo(t, `200 {}`, `400 {"__type":"x#ThrottlingException"}`)
	answer, err := executor.Session().Run(context.Background(),
		&Step{ID: 7, Calls: []Call{call("PutItem", `{}`), call("PutItem", `{}`)}})
	if err != nil || shown(answer) != "500 ThrottlingException unknown" {
		t.Errorf("%s, %v", shown(answer), err)
	}
}

// Asserts that the claim's item and those of the grant are sent in one request, the claim's
// first.
func TestDynamoDBGrant(t *testing.T) {
	executor, heard := dynamo(t, `200 {}`, `400 {"__type":"x#TransactionCanceledException",`+
		`"CancellationReasons":[{"Code":"ConditionalCheckFailed"},{"Code":"None"}]}`,
		`500 {"__type":"x#InternalServerError"}`)
	session := executor.Session()
	step := &grantStep{ID: 7, Item: json.RawMessage(`{"Put":{"claim":1}}`),
		whole: json.RawMessage(`{}`)}
	own := json.RawMessage(`{"Put":{"own":1}}`)
	for i, wanted := range []string{
		`{"code":200,"id":7}`, `{"code":200,"id":7,"results":[{"error":{"type":` +
			`"TransactionCanceledException","reasons":[{"code":"ConditionalCheckFailed"},` +
			`{"code":"None"}]}}]}`, `{"code":500,"id":7}`,
	} {
		answer, err := granted(context.Background(), session, step,
			effects{grant: func(_ context.Context, grant *Grant) error {
				*grant.Items = append(*grant.Items, own)
				return nil
			}})
		if text, _ := json.Marshal(answer); err != nil || string(text) != wanted {
			t.Errorf("%s, %v, not %s", text, err, wanted)
		}
		const both = `DynamoDB_20120810.TransactWriteItems ` +
			`{"TransactItems":[{"Put":{"claim":1}},{"Put":{"own":1}}]}`
		if heard()[i] != both {
			t.Errorf("sent %s", heard()[i])
		}
	}
}

// Asserts that a grant that returns ErrNotGranted writes nothing, and its items are discarded.
func TestDynamoDBNotGranted(t *testing.T) {
	executor, heard := dynamo(t)
	session := executor.Session()
	answer, err := granted(context.Background(), session,
		&grantStep{ID: 7, Item: json.RawMessage(`{}`), whole: json.RawMessage(`{}`)},
		effects{grant: func(_ context.Context, grant *Grant) error {
			*grant.Items = append(*grant.Items, json.RawMessage(`{}`))
			return ErrNotGranted
		}})
	text, _ := json.Marshal(answer)
	if err != nil || string(text) != `{"code":500,"id":7}` || len(heard()) != 0 {
		t.Errorf("%s, %v, asked %q", text, err, heard())
	}
	if len(session.(*dynamoSession).items) != 0 {
		t.Error("items are left")
	}
}

// Asserts that an executor without Commit refuses a step with an item, which would be granted
// and not stored.
func TestAnItemNeedsACommitter(t *testing.T) {
	_, store := faked(t, "sqlite", nil)
	_, err := granted(context.Background(), store.Session(),
		&grantStep{ID: 7, Item: json.RawMessage(`{}`), whole: json.RawMessage(`{}`)},
		effects{grant: func(context.Context, *Grant) error { return nil }})
	if err == nil {
		t.Error("it is taken")
	}
}

func TestDynamoDBIsSigned(t *testing.T) {
	executor, heard := dynamo(t)
	executor.Sign = func(context.Context, *http.Request, string) error {
		return errors.New("no key")
	}
	for i := 0; i < 2; i++ {
		answer, err := executor.Session().Run(context.Background(),
			&Step{Calls: []Call{call("GetItem", `{}`)}})
		if err != nil || len(heard()) != 0 ||
			shown(answer) != "500 UnrecognizedClientException no" {
			t.Errorf("%s, %v, asked %q", shown(answer), err, heard())
		}
		executor.Sign = nil
	}
}

func TestForms(t *testing.T) {
	var found Step
	const open = `{"id":3,"engine":"sqlite","repeatable":false,"transaction":null,
		"calls":[{"sql":"?","args":["a",9007199254740991,null],"returnsRows":true}]}`
	if err := json.Unmarshal([]byte(open), &found); err != nil {
		t.Fatal(err)
	}
	args := found.Calls[0].Args
	if args[0].any != "a" || args[1].any != int64(1<<53-1) || args[2].any != nil ||
		found.Transaction != "" {
		t.Errorf("the step is %+v", found)
	}
	for _, wrong := range []string{`1.5`, `true`, `{}`, `[]`} {
		if json.Unmarshal([]byte(wrong), new(Value)) == nil {
			t.Errorf("%s is taken as a value", wrong)
		}
	}
	none := []CallResult{}
	for _, empty := range []*Reply{{ID: 3, Code: 200}, {ID: 3, Code: 200, Results: none}} {
		if text, _ := json.Marshal(empty); string(text) != `{"id":3,"code":200,"results":[]}` {
			t.Errorf("an empty answer is %s", text)
		}
	}
	rows := [][]any{}
	answer := &Reply{ID: 3, Code: 200, Results: []CallResult{{}, {Rows: &rows}}}
	const wanted = `{"id":3,"code":200,"results":[{},{"rows":[]}]}`
	if text, _ := json.Marshal(answer); string(text) != wanted {
		t.Errorf("the answer is %s", text)
	}
}
