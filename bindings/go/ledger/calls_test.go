//go:build assay_drivers

package ledger

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	assay "assay.example/bindings/go"
)

// Tests of the operations that ledger_test.go does not cover.

func init() {
	for what, tried := range map[string]part{
		"keys": {keysIn, nil}, "pace": {paceIn, nil}, "last": {lastIn, failsOpen},
		"sweeps": {sweepsIn, nil}, "joins": {joinsIn, forgets}, "claims": {claimsIn, nil},
		"outcomes": {outcomesIn, limits}, "looks": {looksIn, nil},
	} {
		parts[what] = tried
	}
}

var attempt = strings.Repeat("b", 22)

// minted returns the bytes of minted App Attest evidence.
func minted(t testing.TB, kind string, arguments ...string) []byte {
	t.Helper()
	octets, err := base64.StdEncoding.DecodeString(mint(t, kind, arguments...))
	must(t, err)
	return octets
}

func keysIn(t *testing.T, shop *shop) {
	data := assay.ClientDataBytes([]byte("hello"))
	object := minted(t, "attestation", "--client-data", "hello")
	text, err := os.ReadFile(filepath.Join(authority, "device.json"))
	must(t, err)
	var device struct {
		KeyID     string `json:"keyId"`
		PublicKey []byte `json:"publicKey"`
	}
	must(t, json.Unmarshal(text, &device))
	attestation, err := shop.Verifier().VerifyAttestation(ctx, object, device.KeyID, data)
	must(t, err)
	for _, changed := range []bool{true, false} {
		bound, err := shop.RegisterDeviceKey(ctx, attestation, "ann")
		must(t, err)
		if bound.Changed != changed || bound.KeyID != device.KeyID {
			t.Errorf("bound: %+v", bound)
		}
	}
	of := GetDeviceKeyRequest{KeyID: device.KeyID, Account: "ann"}
	found, err := shop.GetDeviceKey(ctx, of)
	must(t, err)
	if found.Outcome != "found" || !bytes.Equal(found.Key.PublicKey, device.PublicKey) ||
		found.Key.Counter != 0 || found.Key.AppID != attestation.AppID ||
		found.Key.CreatedAt.IsZero() {
		t.Errorf("found: %+v, %+v", found, found.Key)
	}
	found, err = shop.GetDeviceKey(ctx, GetDeviceKeyRequest{KeyID: device.KeyID, Account: "bob"})
	isRefused(t, err, "rejected.device-key.other-account")
	if found.Outcome != "other-account" || found.Key != nil {
		t.Errorf("of another one: %+v", found)
	}

	assertion, err := shop.Verifier().VerifyAssertion(ctx, minted(t, "assertion",
		"--client-data", "hello", "--counter", "7"), device.PublicKey, 0, data)
	must(t, err)
	advanced, err := shop.AdvanceDeviceKeyCounter(ctx, assertion, "ann")
	must(t, err)
	if advanced.Outcome != "advanced" || advanced.Counter != 7 || advanced.KeyID != device.KeyID {
		t.Errorf("advanced: %+v", advanced)
	}
	advanced, err = shop.AdvanceDeviceKeyCounter(ctx, assertion, "ann")
	isRefused(t, err, "rejected.device-key.replayed")
	if advanced.Outcome != "replayed" {
		t.Errorf("again: %+v", advanced)
	}

	kept, err := shop.Verifier().VerifyAttestReceipt(ctx,
		minted(t, "attest-receipt", "--refreshed", "--risk", "3"))
	must(t, err)
	receipt, err := shop.UpdateDeviceKeyReceipt(ctx, kept)
	must(t, err)
	found, err = shop.GetDeviceKey(ctx, of)
	must(t, err)
	if receipt.Outcome != "kept" || receipt.NextRefreshAt.IsZero() || found.Key.Risk == nil ||
		*found.Key.Risk != 3 || len(found.Key.Receipt) == 0 || found.Key.Counter != 7 ||
		!found.Key.NextRefreshAt.Equal(receipt.NextRefreshAt.Time) {
		t.Errorf("kept: %+v, %+v", receipt, found.Key)
	}

	_, err = shop.RetireDeviceKey(ctx, device.KeyID, "bob")
	isRefused(t, err, "rejected.device-key.other-account")
	for _, changed := range []bool{true, false} {
		retired, err := shop.RetireDeviceKey(ctx, device.KeyID, "ann")
		must(t, err)
		if retired.Changed != changed {
			t.Errorf("retired: %+v", retired)
		}
	}
	_, err = shop.GetDeviceKey(ctx, of)
	isRefused(t, err, "rejected.device-key.retired")
}

func paceIn(t *testing.T, shop *shop) {
	request := AcquireRatePermitRequest{
		AppStoreOperation: "look-up-order-id", Environment: assay.Production}
	for used := int64(1); used <= 2; used++ {
		paced, err := shop.AcquireRatePermit(ctx, request)
		must(t, err)
		if paced.Outcome != "acquired" || paced.Used != used || paced.Limit < used ||
			paced.Unlimited {
			t.Errorf("paced: %+v", paced)
		}
	}
	request.AppStoreOperation = "claim"
	_, err := shop.AcquireRatePermit(ctx, request)
	isRefused(t, err, "misuse.exchange.request")
}

// An awayStore is an executor whose database cannot be reached.
type awayStore struct{ Executor }

type awaySession struct{ Session }

func (a awayStore) Session() Session { return awaySession{a.Executor.Session()} }

func (awaySession) Run(_ context.Context, step *Step) (*Reply, error) {
	return &Reply{ID: step.ID}, nil
}

var failsOpen = map[string]any{"ledger": map[string]any{
	"failOpen": map[string]any{"planMaxAgeMs": 3_600_000}}}

// Asserts that a plan read earlier stays valid for a limited time (STO-45).
func lastIn(t *testing.T, shop *shop) {
	applied, err := shop.UpdateSubscriptions(ctx, UpdateSubscriptionsRequest{
		JWS: mint(t, "transaction"), Account: "ann"})
	must(t, err)
	last, err := shop.GetPlan(ctx, "ann")
	must(t, err)
	executor := shop.executor
	shop.executor = awayStore{executor}
	defer func() { shop.executor = executor }()
	plan, err := shop.GetPlanWith(ctx, GetPlanRequest{Account: "ann", CachedPlan: last})
	must(t, err)
	if plan.Plan != applied.Plan || !plan.IsCached || !plan.ExpiresAt.Equal(last.ExpiresAt.Time) {
		t.Errorf("the plan is %+v", plan)
	}
	plan, err = shop.GetPlan(ctx, "ann")
	if err == nil || plan.Plan != "free" || plan.IsCached {
		t.Errorf("without a last one: %+v, %v", plan, err)
	}
	paced, err := shop.AcquireRatePermit(ctx, AcquireRatePermitRequest{
		AppStoreOperation: "look-up-order-id", Environment: assay.Production})
	must(t, err)
	if !paced.Unlimited {
		t.Errorf("paced: %+v", paced)
	}
}

// Asserts that an SQL sweep repeated with its attempt id returns the same claims; over
// DynamoDB, claims that were taken over are not listed again until their lease has expired.
func sweepsIn(t *testing.T, shop *shop) {
	times := 2
	if shop.executor.EngineName() == "dynamodb" {
		times = 1
	}
	claimed, err := shop.Claim(ctx, ClaimRequest{
		JWS: coins(t), Account: "ann", Lease: 10 * time.Second})
	must(t, err)
	if until := claimed.Claims[0].LeaseExpiresAt.Sub(shop.now); until > 10*time.Second {
		t.Errorf("the lease is %v long", until)
	}
	shop.now = shop.now.Add(11 * time.Second)
	held, err := shop.ResumeExpiredWith(ctx, ResumeExpiredRequest{OnExpiredLease: "hold"})
	must(t, err)
	if len(held.Claims) != 0 || len(held.Held) != 1 {
		t.Errorf("held: %+v", held)
	}
	due, err := shop.ResumeExpiredWith(ctx, ResumeExpiredRequest{MinExpired: time.Hour})
	must(t, err)
	if len(due.Claims) != 0 {
		t.Errorf("older: %+v", due)
	}
	for i := 0; i < times; i++ {
		due, err = shop.ResumeExpiredWith(
			ctx, ResumeExpiredRequest{AttemptID: attempt, Lease: time.Minute})
		must(t, err)
		if len(due.Grants()) != 1 || due.Grants()[0].FencingToken != 2 ||
			due.Claims[0].LeaseExpiresAt.Sub(shop.now) > time.Minute {
			t.Fatalf("due: %+v", due)
		}
	}
	shop.now = shop.now.Add(61 * time.Second)
	due, err = shop.ResumeExpiredWith(ctx, ResumeExpiredRequest{Grant: shop.payLater})
	must(t, err)
	if len(due.Claims) != 1 || due.Claims[0].ClientResult != "granted" || len(due.Grants()) != 0 {
		t.Errorf("paid: %+v", due)
	}
	shop.has(t, map[string]int64{"ann": 100})

	const id = "3000000000000021"
	shop.claims(t, shop.state(t, id, 0), "ann", "granted", 200)
	_, err = shop.RevokeWith(ctx, RevokeRequest{
		JWS: shop.state(t, id, time.Second, "--refunded"), GrantMode: Lease,
		Lease: 5 * time.Second})
	must(t, err)
	shop.now = shop.now.Add(6 * time.Second)
	takes := ResumeExpiredRevocationsRequest{AttemptID: attempt, Lease: time.Minute}
	for i := 0; i < times; i++ {
		found, err := shop.ResumeExpiredRevocationsWith(ctx, takes)
		must(t, err)
		if len(found.Takes) != 1 || found.Takes[0].FencingToken != 3 {
			t.Errorf("takes: %+v", found)
		}
	}

	applied, err := shop.UpdateSubscriptions(ctx, UpdateSubscriptionsRequest{
		JWS: mint(t, "transaction"), Account: "ann"})
	must(t, err)
	shop.now = applied.ExpiresAt.Add(24 * time.Hour)
	for _, wanted := range []struct {
		attempt string
		lines   int
	}{{attempt, 1}, {"", 0}} {
		lines, err := shop.LeaseDueSubscriptionsWith(ctx, LeaseDueSubscriptionsRequest{
			AttemptID: wanted.attempt, Lease: time.Minute})
		must(t, err)
		if len(lines.Subscriptions) != wanted.lines {
			t.Errorf("%q: %+v", wanted.attempt, lines)
		}
	}
}

func joinsIn(t *testing.T, shop *shop) {
	shop.claims(t, coins(t), "anonymous", "granted", 200)
	request := MergeAccountsRequest{From: "anonymous", To: "ann", AttemptID: attempt}
	for i := 0; i < 2; i++ {
		joined, err := shop.MergeAccountsWith(ctx, request)
		must(t, err)
		if joined.Outcome == "" || joined.HasMore {
			t.Errorf("joined: %+v", joined)
		}
	}
	request = MergeAccountsRequest{From: "anonymous", To: "bob", OperatorView: true}
	joined, err := shop.MergeAccountsWith(ctx, request)
	isRefused(t, err, "rejected.account.merged")
	if joined.MergedInto != "ann" {
		t.Errorf("linked to %q", joined.MergedInto)
	}
	request.OperatorView = false
	if joined, _ = shop.MergeAccountsWith(ctx, request); joined.MergedInto != "" {
		t.Errorf("everybody sees %q", joined.MergedInto)
	}
	forgotten, err := shop.ForgetAccountWith(
		ctx, ForgetAccountRequest{Account: "ann", AttemptID: attempt})
	must(t, err)
	if forgotten.Outcome != "forgotten" {
		t.Errorf("forgotten: %+v", forgotten)
	}
}

func claimsIn(t *testing.T, shop *shop) {
	jws := coins(t)
	token := "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
	stranger, err := shop.Claim(ctx, ClaimRequest{JWS: coins(t, "--account",
		"6ba7b810-9dad-11d1-80b4-00c04fd430c8"), Account: "ann", AccountToken: token})
	if err != nil || stranger.Claims[0].Outcome != "refused" {
		t.Errorf("with the token of another one: %+v, %v", stranger, err)
	}
	for _, refused := range []ClaimRequest{{Lease: time.Millisecond}, {MaxPurchases: 65},
		{OnExpiredLease: "never"}, {Resolution: "never"}, {AttemptID: "short"},
		{Note: "two\nlines"}} {
		refused.JWS, refused.Account = jws, "ann"
		if _, err := shop.Claim(ctx, refused); !isMisuse(err) {
			t.Errorf("%+v: %v", refused, err)
		}
	}
	other, err := shop.Claim(ctx, ClaimRequest{
		JWS: jws, Account: "ann", TransactionIDs: []string{"1"}, Grant: shop.pay})
	if len(other.Grants()) != 0 || len(other.Claims) != 0 {
		t.Errorf("another one alone: %+v, %v", other, err)
	}
	claimed, err := shop.Claim(ctx, ClaimRequest{JWS: jws, Account: "ann", MaxPurchases: 1,
		Note: "by hand", OnExpiredLease: "hold", Grant: shop.pay})
	must(t, err)
	if claimed.ClientResult != "granted" {
		t.Errorf("claimed: %+v", claimed)
	}
	found, err := shop.Find(ctx, FindRequest{Account: "ann", OperatorView: true})
	must(t, err)
	if found.Rows[0].OperatorView.Note != "by hand" {
		t.Errorf("looked up: %+v", found.Rows[0].OperatorView)
	}

	// An operator found that the purchase was not granted (STO-30).
	jws = coins(t)
	first, err := shop.Claim(ctx, ClaimRequest{JWS: jws, Account: "ann", OnExpiredLease: "hold"})
	must(t, err)
	shop.now = shop.now.Add(61 * time.Second)
	resume := ResumeRequest{PurchaseKey: first.Claims[0].PurchaseKey, Account: "ann",
		OnExpiredLease: "hold", Grant: shop.payLater}
	held, err := shop.Resume(ctx, resume)
	must(t, err)
	if held.Outcome != "held" {
		t.Errorf("held: %+v", held)
	}
	resume.OnExpiredLease, resume.Resolution, resume.Note = "", "not-granted", "looked at"
	resumed, err := shop.Resume(ctx, resume)
	must(t, err)
	if resumed.ClientResult != "granted" {
		t.Errorf("resumed: %+v", resumed)
	}
	shop.has(t, map[string]int64{"ann": 200})
}

func isMisuse(err error) bool {
	found, is := err.(*assay.Error)
	return is && strings.HasPrefix(found.Name, "misuse.")
}

// Asserts the remaining members of the results.
func outcomesIn(t *testing.T, shop *shop) {
	text := strings.Repeat("c", 43)
	challenge, err := shop.IssueChallengeWith(ctx, IssueChallengeRequest{
		Challenge: text, Purpose: "login", Subject: "ann"})
	must(t, err)
	if challenge.Text != text {
		t.Errorf("the challenge is %+v", challenge)
	}
	use := ConsumeChallengeRequest{Purpose: "login", Subject: "ann", Challenge: text, UsedBy: "x"}
	consumed, err := shop.ConsumeChallenge(ctx, use)
	must(t, err)
	if consumed.Outcome != "consumed" {
		t.Errorf("consumed: %+v", consumed)
	}
	use.UsedBy = "y"
	consumed, err = shop.ConsumeChallenge(ctx, use)
	if isRefused(t, err, "rejected.challenge.used"); consumed.Outcome != "used" {
		t.Errorf("again: %+v", consumed)
	}

	for _, outcome := range []string{"first", "duplicate"} {
		recorded, err := shop.RecordEvent(ctx, "NOTE#1", "")
		must(t, err)
		if recorded.Outcome != outcome || recorded.HTTPStatus != 200 ||
			recorded.StoredAt.UnixMilli() != shop.now.UnixMilli() {
			t.Errorf("recorded: %+v", recorded)
		}
	}

	taken, err := shop.ConsumeQuota(ctx, "ann", "premium", "premium", 1)
	must(t, err)
	for _, outcome := range []string{"released", "none"} {
		released, err := shop.ReleaseQuota(ctx, taken.Ticket)
		must(t, err)
		if taken.Outcome != "consumed" || released.Outcome != outcome {
			t.Errorf("released: %+v", released)
		}
	}
	taken, err = shop.ConsumeQuota(ctx, "ann", "premium", "free", 1)
	if isRefused(t, err, "rejected.quota.not-in-plan"); taken.Outcome != "not-in-plan" {
		t.Errorf("not in the plan: %+v", taken)
	}
	for _, units := range []int64{0, -1} {
		if _, err = shop.ConsumeQuota(ctx, "ann", "premium", "premium", units); !isMisuse(err) {
			t.Errorf("%d units: %v", units, err)
		}
	}

	admitted, err := shop.BeginSignupWith(ctx, BeginSignupRequest{Address: "192.0.2.1",
		Username: "u_0123456789abcdef", PasswordBytes: 24})
	must(t, err)
	settled, err := shop.FinishSignup(ctx, admitted.Ticket, "exists")
	must(t, err)
	if admitted.Outcome != "admitted" || settled.Outcome != "exists" || !settled.Released {
		t.Errorf("settled: %+v", settled)
	}
	_, err = shop.BeginSignupWith(ctx, BeginSignupRequest{Username: "u_0123456789abcdef"})
	isRefused(t, err, "malformed.signup.missing")
}

func looksIn(t *testing.T, shop *shop) {
	found, err := shop.CheckSchemaWith(ctx, CheckSchemaRequest{})
	must(t, err)
	if !found.Primary || found.Version < 2 || len(found.Lineage) != 32 {
		t.Errorf("the schema is %+v", found)
	}
	if len(found.Tables) == 0 && shop.executor.EngineName() != "dynamodb" {
		t.Error("it lists no tables")
	}
	_, err = shop.CheckSchemaWith(ctx, CheckSchemaRequest{Lineage: found.Lineage})
	must(t, err)
	_, err = shop.CheckSchemaWith(ctx, CheckSchemaRequest{Lineage: strings.Repeat("x", 32)})
	isRefused(t, err, "config.ledger.lineage")
}

// Asserts that a request has only the members that were set.
func TestWhatIsEmptyIsNotAsked(t *testing.T) {
	request := asking("claim")
	put(request, "account", "")
	put(request, "leaseMs", time.Duration(0).Milliseconds())
	put[*int64](request, "taken", nil)
	request.list("transactionIds", nil)
	request.plan("cachedPlan", nil)
	request.make("attemptId", attempt, 16)
	request.add(map[string]any{"grantMode": "lease"})
	wanted := map[string]any{"operation": "claim", "attemptId": attempt, "grantMode": "lease"}
	if !reflect.DeepEqual(request.members, wanted) || request.mode() != Lease {
		t.Errorf("the request is %v", request.members)
	}
	request.plan("cachedPlan", &GetPlanResult{Plan: "free"})
	last := fmt.Sprint(request.members["cachedPlan"])
	if !strings.Contains(last, "expiresAtMs:<nil>") {
		t.Errorf("the last one is %s", last)
	}
}
