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

// The shared case table has evidence with the expected results. The environment variable
// ASSAY_CASES names the file, which `make check` mints. Without it these tests fail: cases
// that are not run prove nothing.

// casesVariable is the environment variable with the path of the case table.
const casesVariable = "ASSAY_CASES"

// A caseTable is the parsed file.
type caseTable struct {
	Version   int                        `json:"assayCases"`
	Verifiers map[string]json.RawMessage `json:"verifiers"`
	Cases     []tableCase                `json:"cases"`

	made sync.Map // name -> *Verifier
}

// A tableCase is one call and its expected result.
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

	Earlier []tableCase `json:"earlier"` // tokens that the key set has verified before

	Steps  []tableCase `json:"steps"` // of a transcript: expectation, reply, time
	Expect expectation `json:"expect"`
}

// inputs are the JSON of a case, in which some members contain bytes: NAME, NAMEBase64,
// NAMERepeat. They are parsed on demand, because under garbage-collector stress each call
// takes as long as a walk over everything that is kept.
type inputs struct{ text json.RawMessage }

// member returns one member; nil if there is none.
func (i inputs) member(name string) json.RawMessage {
	var found map[string]json.RawMessage
	if json.Unmarshal(i.text, &found) != nil {
		return nil
	}
	return found[name]
}

// An expectation is the expected result of a case.
type expectation struct {
	Status string          `json:"status"`
	Check  *string         `json:"check"`
	At     *string         `json:"at"`
	Hint   *string         `json:"hint"`
	Facts  json.RawMessage `json:"facts"` // by their dotted paths
}

// UnmarshalJSON reads the members by name, and keeps the JSON for the inputs.
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

// theCases returns the case table; the test fails without it.
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

// verifier returns the verifier of this name, which cases share.
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

// accepted returns the first accepted case of a call and a kind; "" matches any kind.
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

// has reports whether a case has an input.
func (c *tableCase) has(name string) bool {
	for _, suffix := range []string{"", "Base64", "Repeat"} {
		if c.member(name+suffix) != nil {
			return true
		}
	}
	return false
}

// input returns an input of a case: text, decoded base64, or a repetition.
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

// evidence returns the input with the evidence of the case's kind.
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

// at returns the option with the time of a case.
func (c *tableCase) at() Option { return At(time.UnixMilli(*c.Now)) }

// subject returns the option with the subject of a receipt, if the case has one.
func (c *tableCase) subject(t testing.TB) []Option {
	if !c.has("subject") {
		return nil
	}
	if c.Kind == KindAttestReceipt {
		return []Option{PublicKeyOf(c.input(t, "subject"))}
	}
	return []Option{Device(c.input(t, "subject"))}
}

// clientData returns those of a case, also of kinds that do not exist.
func (c *tableCase) clientData(t testing.TB) ClientData {
	return ClientData{c.ClientDataKind, libassay.GivenBytes(c.input(t, "clientData"))}
}

// kept reports whether to run a case: all of them. Under garbage-collector stress, where each
// case takes hundreds of collections, only the first of each call and every 96th; with the
// race detector, which other tests are for, every eighth.
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
