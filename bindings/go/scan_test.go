package assay

import (
	"strings"
	"testing"
	"time"
)

// Asserts that text that is not a document of the library ends in an error of the reader,
// never in a panic or an endless loop.
func TestBrokenDocuments(t *testing.T) {
	cases := theCases(t)
	var texts []string
	seen := map[Kind]bool{}
	for i := range cases.Cases {
		each := &cases.Cases[i]
		if each.Call != "verify_jws" || each.Expect.Status != "ok" || seen[each.Kind] {
			continue
		}
		seen[each.Kind] = true
		document, err := cases.verifier(t, each.Verifier).Verify(
			ctx, each.Kind, each.input(t, "jws"), each.at())
		must(t, err)
		texts = append(texts, document.JSON())
	}
	if len(texts) != 5 {
		t.Fatalf("the table has %d kinds of JWS", len(texts))
	}
	step := 3
	if racing {
		step = 29
	}
	for _, text := range texts {
		for at := 0; at < len(text); at += step {
			readBroken(text[:at])
			for _, octet := range "\"\\{}[],:0n\x00" {
				readBroken(text[:at] + string(octet) + text[at+1:])
			}
		}
	}
	readBroken(strings.Repeat(`{"transaction":`, 100_000))
	readBroken(`{"transaction":{"type":` + strings.Repeat("[", 100_000))
	readBroken(`{"kind":"transaction","checks":` + strings.Repeat(`{"":`, 100_000))
}

// readBroken reads everything of a document with a malformed text.
func readBroken(text string) {
	document := &Document{json: text}
	document.Kind()
	document.Checks()
	if known, there := kinds[document.Kind()]; there {
		_, _ = factsAt(document, known.new(), known.path...)
	}
	_, _ = factsAt(document, new(Transaction), "transaction")
	_ = refusal(document)
}

// Asserts that a document that only this package cannot read is reported as a bug.
func TestUnreadableDocument(t *testing.T) {
	document := &Document{json: `{"kind":"transaction","transaction":{"type":"x"`}
	_, err := document.Facts()
	if err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("half a document: %v", err)
	}
	if _, err := read[Transaction](document, "renewalInfo"); err == nil {
		t.Error("facts that are not there")
	}
}

// Asserts how values are read that the library, Apple or Xcode may write.
func TestValues(t *testing.T) {
	var found struct {
		Text    string            `json:"text"`
		Number  int64             `json:"number"`
		Maybe   *int64            `json:"maybe"`
		Flag    *bool             `json:"flag"`
		When    time.Time         `json:"when"`
		Wait    time.Duration     `json:"wait"`
		Texts   []string          `json:"texts"`
		Numbers []int64           `json:"numbers"`
		Octets  []byte            `json:"octets"`
		Named   map[string]string `json:"named"`
		Inside  *struct {
			Deep string `json:"deep"`
		} `json:"inside"`
	}
	text := ` { "other":[{"a":[1,2,{"b":"]}"}]},null,true],
		"\u0074ext":"\u00e9\ud83d\ude00\"\\\/\n",
		"number":"9007199254740993" , "maybe":0,"flag":false,"when":1700000000000.9,
		"wait":9223372036854775807,"texts":["a",1,null,"b"],"numbers":[1,"x",-2,[3]],
		"octets":"AAEC","named":{"k":"v","n":1},"inside":{"deep":"x","more":{}} }`
	s := scanner{text: text}
	if !decode(&s, &found) {
		t.Fatal("the object is not read")
	}
	if found.Text != "é😀\"\\/\n" || found.Number != 9007199254740993 || *found.Maybe != 0 ||
		*found.Flag || found.When.UnixMilli() != 1700000000000 || found.Wait <= 0 ||
		strings.Join(found.Texts, "") != "ab" || len(found.Numbers) != 2 ||
		found.Numbers[1] != -2 || string(found.Octets) != "\x00\x01\x02" ||
		found.Named["k"] != "v" || len(found.Named) != 1 || found.Inside.Deep != "x" {
		t.Errorf("read as %+v", found)
	}
	for text, wanted := range map[string]int64{
		"0": 0, "-1": -1, "9223372036854775807": 9223372036854775807,
		"-9223372036854775807": -9223372036854775807,
	} {
		if value, ok := wholeNumber(text); !ok || value != wanted {
			t.Errorf("%s is %d, %v", text, value, ok)
		}
	}
	for _, text := range []string{"", "-", "1.5", "1e3", "9223372036854775808", "--1", "+1",
		"99999999999999999999", " 1"} {
		if value, ok := wholeNumber(text); ok {
			t.Errorf("%q is %d", text, value)
		}
	}
}
