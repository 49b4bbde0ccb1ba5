package assay

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

const storeMark = " App Store: "

// storeTranscript returns the named transcript of the App Store Server API in the case table.
func storeTranscript(t *testing.T, name string) *tableCase {
	t.Helper()
	cases := theCases(t)
	for i := range cases.Cases {
		if strings.HasSuffix(cases.Cases[i].Name, storeMark+name) {
			return &cases.Cases[i]
		}
	}
	t.Fatalf("no transcript %s", name)
	return nil
}

// playStore runs a transcript to its end.
func playStore(t *testing.T, name string) (*Verifier, *Exchange, Option) {
	t.Helper()
	each := storeTranscript(t, name)
	verifier, at := theCases(t).verifier(t, each.Verifier), each.at()
	exchange, err := verifier.Exchange(ctx, each.input(t, "request"), nil, at)
	must(t, err)
	for i := range each.Steps {
		step := &each.Steps[i]
		_, err := exchange.Step(ctx, step.input(t, "answer"), step.at())
		must(t, err)
	}
	if !exchange.Done() {
		t.Fatalf("%s is not over", name)
	}
	return verifier, exchange, at
}

func answerOf(t *testing.T, exchange *Exchange) *AppStoreResponse {
	t.Helper()
	facts, err := exchange.Document().Facts()
	must(t, err)
	return facts.(*AppStoreResponse)
}

func TestAppStoreCalls(t *testing.T) {
	operations := map[string]bool{}
	cases := theCases(t)
	for i := range cases.Cases {
		if each := &cases.Cases[i]; strings.Contains(each.Name, storeMark) {
			var request struct{ Operation string }
			must(t, json.Unmarshal(each.input(t, "request"), &request))
			operations[request.Operation] = true
		}
	}
	delete(operations, "get-images") // there is none
	calls := reflect.TypeOf(new(AppStore))
	words := regexp.MustCompile("ID|URL|[A-Z][a-z0-9]*")
	for i := 0; i < calls.NumMethod(); i++ {
		name := strings.ToLower(strings.Join(words.FindAllString(calls.Method(i).Name, -1), "-"))
		if !operations[name] {
			t.Errorf("no operation for %s", name)
		}
	}
	if len(operations) != 39 || calls.NumMethod() != 39 {
		t.Errorf("%d operations, %d calls", len(operations), calls.NumMethod())
	}
}

func TestAppStoreRequests(t *testing.T) {
	verifier := theCases(t).verifier(t, "app-store")
	store := verifier.AppStore(AppStoreOptions{Environment: "auto", Attempts: 1, Partial: true})
	no, nothing := false, int64(0)
	history, err := store.GetTransactionHistory(ctx, GetTransactionHistoryRequest{
		TransactionID: "1", StartDate: time.UnixMilli(1767225600000),
		ProductID: []string{"a", "b"}, Revoked: &no, Pages: 2})
	must(t, err)
	store = verifier.AppStore(AppStoreOptions{BundleID: "com.example.app"})
	sent, err := store.SendConsumptionInformation(ctx, SendConsumptionInformationRequest{
		TransactionID: "1", CustomerConsented: true, DeliveryStatus: "DELIVERED",
		ConsumptionPercentage: &nothing})
	must(t, err)
	for exchange, want := range map[*Exchange][2]string{
		history: {"https://api.storekit.apple.com/inApps/v2/history/1?startDate=1767225600000" +
			"&productId=a&productId=b&revoked=false", ""},
		sent: {"https://api.storekit.apple.com/inApps/v2/transactions/consumption/1",
			`{"customerConsented":true,"sampleContentProvided":false,` +
				`"deliveryStatus":"DELIVERED","consumptionPercentage":0}`},
	} {
		var found struct {
			HTTP struct {
				URL  string
				Body *struct{ Text string }
			}
		}
		must(t, json.Unmarshal(exchange.Payload(), &found))
		body := ""
		if found.HTTP.Body != nil {
			body = found.HTTP.Body.Text
		}
		if found.HTTP.URL != want[0] || body != want[1] {
			t.Errorf("the request is %+v, %s", found, body)
		}
	}
	_, err = verifier.AppStore(AppStoreOptions{Environment: "Xbox"}).RequestTestNotification(ctx)
	if !errors.Is(err, ErrMisuse) {
		t.Errorf("an unknown environment: %v", err)
	}
}

func TestAppStoreResponses(t *testing.T) {
	verifier, exchange, at := playStore(t, "two pages")
	facts := answerOf(t, exchange)
	if len(facts.Transactions) != 2 || facts.Transactions[1].TransactionID != "180000900000002" ||
		facts.Unsigned.Revision != "r2" || facts.Next != nil {
		t.Errorf("the facts are %+v", facts)
	}
	decision, err := verifier.Decide(ctx, []Evidence{facts}, at)
	must(t, err)
	if !decision.Entitled {
		t.Errorf("the decision is %+v", decision)
	}
	_, exchange, _ = playStore(t, "some of a history")
	if facts := answerOf(t, exchange); len(facts.Refused) != 1 ||
		facts.Refused[0].Status.Name != "rejected.jws.signature" {
		t.Errorf("refused: %+v", facts.Refused)
	}
	_, exchange, _ = playStore(t, "unknown in both")
	if facts, err := exchange.Document().Facts(); err != nil || facts != nil {
		t.Errorf("facts of a refusal: %v, %v", facts, err)
	}
	if !errors.Is(exchange.Document().Err(), ErrRejected) {
		t.Errorf("the refusal is %v", exchange.Document().Err())
	}
}

func TestUnverifiedTransactionID(t *testing.T) {
	cases := theCases(t)
	seen := map[Format]string{}
	for i := range cases.Cases {
		each := &cases.Cases[i]
		if each.Call != "triage" || each.Expect.Status != "pending.triage.verify-next" {
			continue
		}
		verifier, blob := cases.verifier(t, each.Verifier), each.input(t, "blob")
		finding, err := verifier.Triage(ctx, blob, each.at())
		must(t, err)
		id, err := verifier.ExtractUnverifiedTransactionID(ctx, blob, each.at())
		must(t, err)
		if seen[finding.Format] == "" {
			seen[finding.Format] = id
		}
	}
	for _, form := range []Format{"transaction-receipt", "app-receipt", "jws"} {
		if len(seen[form]) < 13 {
			t.Errorf("the id of a %s is %q", form, seen[form])
		}
	}
	id, err := cases.verifier(t, "standard").ExtractUnverifiedTransactionID(ctx, []byte("hello"))
	if id != "" || err != nil {
		t.Errorf("the id of nothing is %q, %v", id, err)
	}
}
