package assay

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"assay.example/bindings/go/internal/libassay"
)

// The shared case table: evidence with the answer that it must get. The
// environment variable ASSAY_CASES names the file; `make check` mints it. Without
// it these tests fail: a table that is not run proves nothing.

// casesVariable names the file.
const casesVariable = "ASSAY_CASES"

// A caseTable is the file.
type caseTable struct {
	Version   int                        `json:"assayCases"`
	Verifiers map[string]json.RawMessage `json:"verifiers"`
	Cases     []tableCase                `json:"cases"`

	made sync.Map // name -> *Verifier
}

// A tableCase is one call, and what it must answer.
type tableCase struct {
	Name     string `json:"name"`
	Rule     string `json:"rule"`
	Call     string `json:"call"`
	Verifier string `json:"verifier"`
	Kind     Kind   `json:"kind"`
	Now      *int64 `json:"now"`
	inputs

	Evidence       []tableCase `json:"evidence"`
	Account        *string     `json:"account"`
	Expires        *int64      `json:"expires"`
	Grace          *int64      `json:"grace"`
	Revoked        *int64      `json:"revoked"`
	Counter        uint32      `json:"counter"`
	ClientDataKind int32       `json:"clientDataKind"`

	Earlier []tableCase `json:"earlier"` // texts that a key set has seen

	Steps  []tableCase `json:"steps"` // of a transcript: expectation, answer, time
	Expect expectation `json:"expect"`
}

// inputs is the text of a case, of which some members hold bytes: NAME, NAMEBase64,
// NAMERepeat. They are read when they are asked for: under garbage-collector stress each
// call takes as long as a walk over all that is kept.
type inputs struct{ text json.RawMessage }

// member is one of them, nil where there is none.
func (i inputs) member(name string) json.RawMessage {
	var found map[string]json.RawMessage
	if json.Unmarshal(i.text, &found) != nil {
		return nil
	}
	return found[name]
}

// An expectation is what a case must answer.
type expectation struct {
	Status string          `json:"status"`
	Check  *string         `json:"check"`
	At     *string         `json:"at"`
	Hint   *string         `json:"hint"`
	Facts  json.RawMessage `json:"facts"` // by their paths
}

// UnmarshalJSON reads the members by their names, and keeps the text for the inputs.
func (c *tableCase) UnmarshalJSON(text []byte) error {
	type plain tableCase
	if err := json.Unmarshal(text, (*plain)(c)); err != nil {
		return err
	}
	c.text = append(c.text, text...)
	return nil
}

var sharedTable struct {
	once  sync.Once
	table *caseTable
	fault string
}

// theCases is the case table; without it the test fails.
func theCases(t testing.TB) *caseTable {
	t.Helper()
	sharedTable.once.Do(func() {
		path := os.Getenv(casesVariable)
		if path == "" {
			sharedTable.fault = casesVariable +
				" is not set: run `make check`, which mints the cases"
			return
		}
		text, err := os.ReadFile(path)
		found := new(caseTable)
		if err == nil {
			err = json.Unmarshal(text, found)
		}
		switch {
		case err != nil:
			sharedTable.fault = path + ": " + err.Error()
		case found.Version != 1:
			sharedTable.fault = path + " is no case table of version 1"
		default:
			sharedTable.table = found
		}
	})
	if sharedTable.fault != "" {
		t.Fatal(sharedTable.fault)
	}
	return sharedTable.table
}

// verifier is the one that cases share.
func (c *caseTable) verifier(t testing.TB, name string) *Verifier {
	t.Helper()
	if found, there := c.made.Load(name); there {
		return found.(*Verifier)
	}
	config, there := c.Verifiers[name]
	if !there {
		t.Fatalf("the case table has no verifier %q", name)
	}
	made, err := NewVerifier(config)
	if err != nil {
		t.Fatalf("verifier %s: %v", name, err)
	}
	found, _ := c.made.LoadOrStore(name, made)
	return found.(*Verifier)
}

// accepted is the first accepted case of a call and a kind, "" for any.
func (c *caseTable) accepted(t testing.TB, call string, kind Kind) *tableCase {
	t.Helper()
	for i := range c.Cases {
		each := &c.Cases[i]
		if each.Call == call && (kind == "" || each.Kind == kind) && each.Expect.Status == "ok" {
			return each
		}
	}
	t.Fatalf("the case table has no accepted %s %s", call, kind)
	return nil
}

// has says whether a case gives an input.
func (c *tableCase) has(name string) bool {
	for _, suffix := range []string{"", "Base64", "Repeat"} {
		if c.member(name+suffix) != nil {
			return true
		}
	}
	return false
}

// input is what a case gives: a text, base64, or a repetition.
func (c *tableCase) input(t testing.TB, name string) []byte {
	t.Helper()
	var text string
	if raw := c.member(name); raw != nil {
		must(t, json.Unmarshal(raw, &text))
		return []byte(text)
	}
	if raw := c.member(name + "Base64"); raw != nil {
		must(t, json.Unmarshal(raw, &text))
		octets, err := base64.StdEncoding.DecodeString(text)
		must(t, err)
		return octets
	}
	var parts struct {
		Prefix, Unit, Suffix string
		Count                int
	}
	raw := c.member(name + "Repeat")
	if raw == nil {
		t.Fatalf("%s has no %s", c.Name, name)
	}
	must(t, json.Unmarshal(raw, &parts))
	return []byte(parts.Prefix + strings.Repeat(parts.Unit, parts.Count) + parts.Suffix)
}

// evidence is the input that holds a kind of evidence.
func (c *tableCase) evidence(t testing.TB) []byte {
	t.Helper()
	switch c.Kind {
	case KindTransactionReceipt, KindAppReceipt, KindAttestReceipt:
		return c.input(t, "receipt")
	case KindVerifyReceiptResponse:
		return c.input(t, "body")
	}
	return c.input(t, "jws")
}

// at is the time of a case.
func (c *tableCase) at() Option { return At(time.UnixMilli(*c.Now)) }

// subject is the option for what a receipt must belong to, if the case has one.
func (c *tableCase) subject(t testing.TB) []Option {
	if !c.has("subject") {
		return nil
	}
	if c.Kind == KindAttestReceipt {
		return []Option{PublicKeyOf(c.input(t, "subject"))}
	}
	return []Option{Device(c.input(t, "subject"))}
}

// clientData are those of a case, of kinds that do not exist too.
func (c *tableCase) clientData(t testing.TB) ClientData {
	return ClientData{c.ClientDataKind, libassay.GivenBytes(c.input(t, "clientData"))}
}

// kept says whether a case is run: all of them, but under garbage-collector stress, where
// each takes hundreds of collections, the first of each call and every 96th; under the race
// detector, which other tests are for, every eighth.
func (c *caseTable) kept(number int) bool {
	every := 1
	if libassay.Stressed {
		every = 96
	} else if racing {
		every = 8
	}
	if number%every == 0 {
		return true
	}
	for i := range c.Cases[:number] {
		if c.Cases[i].Call == c.Cases[number].Call {
			return false
		}
	}
	return true
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
