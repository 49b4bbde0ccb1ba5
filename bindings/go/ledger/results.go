package ledger

import (
	"encoding/json"
	"time"

	assay "assay.example/bindings/go"
)

// A Time is a moment in UTC; zero where there is none.
type Time struct{ time.Time }

// UnmarshalJSON reads milliseconds since 1970 UTC.
func (t *Time) UnmarshalJSON(text []byte) error {
	var ms *int64
	if err := json.Unmarshal(text, &ms); err != nil {
		return err
	}
	if t.Time = (time.Time{}); ms != nil {
		t.Time = time.UnixMilli(*ms).UTC()
	}
	return nil
}

// A Result is what every operation says beside its own.
type Result struct {
	// The whole answer.
	Document *assay.Document `json:"-"`
	Status   assay.Status    `json:"-"`
	// What a back end answers its own client.
	HTTPStatus int `json:"-"`
}

func (r *Result) of(document *assay.Document) {
	r.Document, r.Status = document, document.Status()
	r.HTTPStatus = r.Status.HTTPStatus()
}

// again is what Apple is answered where something is not done yet: it sends it again.
func (r Result) again() Result {
	r.HTTPStatus = 503
	return r
}

// ClaimResult is what became of the purchases of some evidence.
type ClaimResult struct {
	Result
	// Of the first claim that is yours, else of the newest purchase. See Claim.
	Outcome string `json:"outcome"`
	// For the app (LST-2): "granted", "already-granted", "refused-final", "refused-keep",
	// "deferred"; empty while you have yet to pay out.
	ClientResult string `json:"clientResult"`
	// One for each purchase, in purchase order.
	Claims []Claim `json:"claims"`
	// How many purchases were left out.
	Remaining int64 `json:"remaining"`
	// Whether this call changed what the account has.
	Changed bool `json:"changed"`
}

// A Claim is what became of one purchase.
type Claim struct {
	// The row of the ledger; empty where the purchase cannot have one.
	PurchaseKey   string `json:"purchaseKey"`
	TransactionID string `json:"transactionId"`
	// "new", "resume": yours to pay out. "already-granted", "in-progress", "other-account",
	// "revoked", "superseded", "held", "unknown-product", "upgraded", "family-shared",
	// "unclaimed", "refused", "granted".
	Outcome string `json:"outcome"`
	// Why, where it is "refused".
	Status string `json:"status"`
	// For the app (LST-2); empty while you have yet to pay out.
	ClientResult string `json:"clientResult"`
	Product      string `json:"product"`
	Quantity     int64  `json:"quantity"`
	// What to give, while it is yours to pay out: Quantity × `products.<id>.units`.
	Units int64 `json:"units"`
	// Whether its grant id was handed out before, while it is yours to pay out.
	Repeat bool `json:"repeat"`
	// Of "held": "lease", it was handed out under one, so no transaction pays it (STO-37).
	Reason string `json:"reason"`
	// Whether this call changed what the account has.
	Changed bool `json:"changed"`
	// What you pay it out under.
	GrantID string `json:"grantId"`
	// Grows with each take-over (STO-26).
	FencingToken int64  `json:"fencingToken"`
	Account      string `json:"account"`
	// Until then nobody else takes it over.
	LeaseExpiresAt Time `json:"leaseExpiresAtMs"`
	// When to ask again.
	RetryAfterMs int64 `json:"retryAfterMs"`
	// Of "held".
	ClaimedAt Time `json:"claimedAtMs"`
	GrantedAt Time `json:"grantedAtMs"`
	RevokedAt Time `json:"revokedAtMs"`
}

// NeedsGrant says that it is claimed for this call and not paid out.
func (c *Claim) NeedsGrant() bool {
	return c.ClientResult == "" && (c.Outcome == "new" || c.Outcome == "resume")
}

// Grant is what to pay out for a claim that is yours.
func (c *Claim) Grant() *Grant {
	return &Grant{PurchaseKey: c.PurchaseKey, ID: c.GrantID, FencingToken: c.FencingToken,
		Account: c.Account,
		Product: c.Product, Quantity: c.Quantity, Units: c.Units, Repeat: c.Repeat}
}

// Grants are what is claimed and not paid out.
func (c *ClaimResult) Grants() []*Grant { return grants(c.Claims) }

func grants(claims []Claim) (found []*Grant) {
	for i := range claims {
		if claims[i].NeedsGrant() {
			found = append(found, claims[i].Grant())
		}
	}
	return found
}

// ended says of a claim what became of it after it was paid out.
func (c *ClaimResult) ended(grant *Grant, completed *CompleteResult) {
	claim := ended(c.Claims, grant, completed)
	if claim == nil {
		return
	}
	c.Changed = c.Changed || claim.Changed
	if c.ClientResult == "" {
		c.Outcome, c.ClientResult = claim.Outcome, claim.ClientResult
	}
}

// later says that what is not completed may be paid out (STO-20); why says why it is not.
func (c *ClaimResult) later(why *Result) {
	later(c.Claims)
	c.Result, c.Outcome, c.ClientResult = *why, "resume", "deferred"
}

// ResumeResult is what became of one claim.
type ResumeResult struct {
	Result
	// Of the claim. See Claim.
	Outcome string `json:"outcome"`
	// For the app (LST-2): "granted", "already-granted", "refused-final", "refused-keep",
	// "deferred"; empty while you have yet to pay out.
	ClientResult string `json:"clientResult"`
	// The claim.
	Claims []Claim `json:"claims"`
	// Whether this call changed what the account has.
	Changed bool `json:"changed"`
}

// Grants are what is claimed and not paid out.
func (c *ResumeResult) Grants() []*Grant { return grants(c.Claims) }

// ended says of a claim what became of it after it was paid out.
func (c *ResumeResult) ended(grant *Grant, completed *CompleteResult) {
	claim := ended(c.Claims, grant, completed)
	if claim == nil {
		return
	}
	c.Changed = c.Changed || claim.Changed
	if c.ClientResult == "" {
		c.Outcome, c.ClientResult = claim.Outcome, claim.ClientResult
	}
}

// later says that what is not completed may be paid out (STO-20); why says why it is not.
func (c *ResumeResult) later(why *Result) {
	later(c.Claims)
	c.Result, c.Outcome, c.ClientResult = *why, "resume", "deferred"
}

// ended is the claim of a grant, with what became of it; nil where it is not among them.
func ended(claims []Claim, grant *Grant, completed *CompleteResult) *Claim {
	for i := range claims {
		claim := &claims[i]
		if claim.PurchaseKey != grant.PurchaseKey || !claim.NeedsGrant() {
			continue
		}
		claim.Outcome, claim.ClientResult = completed.Outcome, completed.ClientResult
		claim.GrantedAt, claim.RevokedAt = completed.GrantedAt, completed.RevokedAt
		claim.Changed = completed.Changed
		return claim
	}
	return nil
}

func later(claims []Claim) {
	for i := range claims {
		if claim := &claims[i]; claim.NeedsGrant() {
			claim.Outcome, claim.ClientResult = "resume", "deferred"
		}
	}
}

// CompleteResult is what became of a purchase that you have paid out.
type CompleteResult struct {
	Result
	// "granted"; "revoked" or "superseded": take back what you paid out under this grant id.
	Outcome string `json:"outcome"`
	// For the app (LST-2).
	ClientResult string `json:"clientResult"`
	GrantedAt    Time   `json:"grantedAtMs"`
	RevokedAt    Time   `json:"revokedAtMs"`
	// False for a repetition.
	Changed bool `json:"changed"`
}

// ResumeExpiredResult is claims whose lease is over, now yours: pay each out under its grant id,
// then complete it.
type ResumeExpiredResult struct {
	Result
	Claims []Claim `json:"claims"`
	// Left to a person (STO-27).
	Held []Claim `json:"held"`
	// Whether to call again at once.
	HasMore bool `json:"hasMore"`
}

// Grants are what to pay out.
func (d *ResumeExpiredResult) Grants() []*Grant { return grants(d.Claims) }

func (d *ResumeExpiredResult) ended(grant *Grant, completed *CompleteResult) {
	ended(d.Claims, grant, completed)
}

func (d *ResumeExpiredResult) later(why *Result) {
	later(d.Claims)
	d.Result = *why
}

// RevokeResult is what Apple took back.
type RevokeResult struct {
	Result
	Revocations []PurchaseRevocation `json:"revocations"`
	Changed     bool                 `json:"changed"`
}

// Takes are what to take back.
func (r *RevokeResult) Takes() (found []Take) {
	for i := range r.Revocations {
		if take := r.Revocations[i].Take; take != nil {
			found = append(found, *take)
		}
	}
	return found
}

// CompleteRevocationResult is what became of a take-back that you have carried out.
type CompleteRevocationResult struct {
	Result
	// "taken"; "already"; "superseded": something newer is stored, or handed out.
	Outcome   string `json:"outcome"`
	RevokedAt Time   `json:"revokedAtMs"`
	// Units that could not be taken: they are noted for a person.
	Debt int64 `json:"debt"`
	// False for a repetition.
	Changed bool `json:"changed"`
}

// ResumeExpiredRevocationsResult is take-backs that nobody completed, now yours: carry each out,
// then complete it.
type ResumeExpiredRevocationsResult struct {
	Result
	Takes []Take `json:"takes"`
	// Whether to call again at once.
	HasMore bool `json:"hasMore"`
}

// ApplyEventResult is what an event of Apple's changed. Answer Apple with HTTPStatus.
type ApplyEventResult struct {
	Result
	// What to take back.
	Take []Take `json:"take"`
	// Of reversed refunds: Grants are yours to pay out.
	Give []Claim `json:"give"`
	// What became of subscriptions and unlocks.
	Subscriptions []SubscriptionUpdate `json:"subscriptions"`
	// Refused for good: log them, and answer 200.
	Refused []RefusedPart `json:"refused"`
	Changed bool          `json:"changed"`
}

// Grants are what to pay out again.
func (e *ApplyEventResult) Grants() []*Grant { return grants(e.Give) }

// A RefusedPart is what an event did not do; the rest of it was done.
type RefusedPart struct {
	// "ledger" or "subscription".
	At            string `json:"at"`
	TransactionID string `json:"transactionId"`
	// "rejected.product.unknown" …
	Status string `json:"status"`
}

// A PurchaseRevocation is what became of one purchase that Apple took back. Act on Take, and on
// nothing else.
type PurchaseRevocation struct {
	PurchaseKey   string `json:"purchaseKey"`
	TransactionID string `json:"transactionId"`
	// What the purchase was: "was-granted", "was-claimed", "unclaimed", "already", "stale",
	// "not-revoked", "refused", "in-progress".
	Outcome  string `json:"outcome"`
	Account  string `json:"account"`
	Product  string `json:"product"`
	Quantity int64  `json:"quantity"`
	// Of a partial refund, thousandths of a percent.
	Percentage *int64 `json:"percentage"`
	// What it was paid out under, where there is something to take back.
	GrantID   string `json:"grantId"`
	RevokedAt Time   `json:"revokedAtMs"`
	// What to take back; nil: nothing.
	Take    *Take `json:"take"`
	Changed bool  `json:"changed"`
}

// FindResult says whether a purchase was used, and by whom.
type FindResult struct {
	Result
	// Of the first row: "already-delivered", "resume" (claimed, not delivered), "refunded",
	// "used-by-other"; "unused": genuine, and nobody's; "unproven": no row, no evidence.
	Outcome string `json:"outcome"`
	// The newest rows may be missing yet (DynamoDB).
	Eventual bool             `json:"eventual"`
	Rows     []LedgerPurchase `json:"rows"`
}

// A LedgerPurchase is one row of the ledger, for support.
type LedgerPurchase struct {
	PurchaseKey   string            `json:"purchaseKey"`
	Environment   assay.Environment `json:"environment"`
	TransactionID string            `json:"transactionId"`
	// What to tell the customer.
	Outcome string `json:"outcome"`
	// "claimed", "granted", "revoked".
	State       string `json:"state"`
	Product     string `json:"product"`
	Quantity    int64  `json:"quantity"`
	PurchasedAt Time   `json:"purchasedAtMs"`
	ClaimedAt   Time   `json:"claimedAtMs"`
	GrantedAt   Time   `json:"grantedAtMs"`
	RevokedAt   Time   `json:"revokedAtMs"`
	// Whether it is of the account asked about; nil: none was.
	IsOwn *bool `json:"isOwn"`
	// To its own account and to operators.
	GrantID string `json:"grantId"`
	// For operators only.
	OperatorView *OperatorFacts `json:"operatorView"`
}

// OperatorFacts are what only an operator may see of a row.
type OperatorFacts struct {
	Account string `json:"account"`
	// Of a grant made by hand.
	Note string `json:"note"`
	// SHA-256 of the text, 64 hex digits.
	Evidence       string `json:"evidence"`
	FencingToken   int64  `json:"fencingToken"`
	Generation     int64  `json:"generation"`
	LeaseExpiresAt Time   `json:"leaseExpiresAtMs"`
}

// A Subscription is a subscription, or another purchase that lasts.
type Subscription struct {
	Environment           assay.Environment `json:"environment"`
	OriginalTransactionID string            `json:"originalTransactionId"`
	TransactionID         string            `json:"transactionId"`
	ProductID             string            `json:"productId"`
	// By the configuration when it was stored.
	Plan           string `json:"plan"`
	PurchasedAt    Time   `json:"purchasedAtMs"`
	ExpiresAt      Time   `json:"expiresAtMs"`
	GraceExpiresAt Time   `json:"graceExpiresAtMs"`
	RevokedAt      Time   `json:"revokedAtMs"`
	DeactivatedAt  Time   `json:"deactivatedAtMs"`
	// Age of what is known.
	AsOf Time `json:"asOfMs"`
	// When to ask Apple.
	NextCheckAt Time `json:"nextCheckAtMs"`
	// Whether it gives its plan now.
	IsActive bool `json:"isActive"`
}

// A DueSubscription is a subscription about which to ask Apple for newer evidence.
type DueSubscription struct {
	Environment           assay.Environment `json:"environment"`
	OriginalTransactionID string            `json:"originalTransactionId"`
	TransactionID         string            `json:"transactionId"`
	// Who has it; empty: nobody has shown it yet.
	Account        string `json:"account"`
	ProductID      string `json:"productId"`
	ExpiresAt      Time   `json:"expiresAtMs"`
	GraceExpiresAt Time   `json:"graceExpiresAtMs"`
	// Age of what is known.
	AsOf Time `json:"asOfMs"`
	// SHA-256 of the text, 64 hex digits.
	Evidence string `json:"evidence"`
}

// UpdateSubscriptionsResult is what evidence made of the subscriptions of an account.
type UpdateSubscriptionsResult struct {
	Result
	// The plan now; empty without an account.
	Plan          string               `json:"plan"`
	ExpiresAt     Time                 `json:"expiresAtMs"`
	Subscriptions []SubscriptionUpdate `json:"subscriptions"`
	Changed       bool                 `json:"changed"`
}

// A SubscriptionUpdate is what became of one subscription.
type SubscriptionUpdate struct {
	// "applied", "stale" (something newer is stored), "transferred", "other-account",
	// "transfer-too-soon", "excluded", "unknown-product", "refused".
	Outcome string `json:"outcome"`
	// Why, where it was refused.
	Status        string `json:"status"`
	TransactionID string `json:"transactionId"`
	Changed       bool   `json:"changed"`
	// Ask the customer, then apply again with ConfirmTransfer.
	CanTransfer bool `json:"canTransfer"`
	// As it is stored now.
	Subscription *Subscription `json:"subscription"`
}

// GetPlanResult is the plan of an account now.
type GetPlanResult struct {
	Result
	// The best that counts; without one the first of `plans`.
	Plan string `json:"plan"`
	// Zero: no end.
	ExpiresAt     Time           `json:"expiresAtMs"`
	Subscriptions []Subscription `json:"subscriptions"`
	ReadAt        Time           `json:"readAtMs"`
	// The store was away, and GetPlanRequest.CachedPlan stood in (`ledger.failOpen`).
	IsCached bool `json:"isCached"`
}

// DeactivateSubscriptionsResult is the plan that is left.
type DeactivateSubscriptionsResult struct {
	Result
	// The best that counts; without one the first of `plans`.
	Plan string `json:"plan"`
	// Zero: no end.
	ExpiresAt     Time           `json:"expiresAtMs"`
	Subscriptions []Subscription `json:"subscriptions"`
	// How many subscriptions were cleared.
	Deactivated int64 `json:"deactivated"`
	Changed     bool  `json:"changed"`
}

// LeaseDueSubscriptionsResult is subscriptions about which to ask Apple:
// UpdateSubscriptions takes what comes.
type LeaseDueSubscriptionsResult struct {
	Result
	Subscriptions []DueSubscription `json:"subscriptions"`
	// Whether to call again at once.
	HasMore bool `json:"hasMore"`
}

// ConsumeQuotaResult is what is left of a meter today.
type ConsumeQuotaResult struct {
	Result
	// "consumed", "exhausted", "not-in-plan".
	Outcome string `json:"outcome"`
	// Your own number: 1 for the first.
	Used  int64 `json:"used"`
	Limit int64 `json:"limit"`
	Left  int64 `json:"left"`
	// The next day.
	ResetAt Time `json:"resetAtMs"`
	// Gives it back: ReleaseQuota. Stays on the server.
	Ticket string `json:"ticket"`
	// For the answer, name to value.
	Headers map[string]string `json:"headers"`
	// The tier to try instead.
	Fallback string `json:"fallback"`
	// The store was away, and nothing was counted.
	Unmetered bool `json:"unmetered"`
}

// ReleaseQuotaResult is whether units were given back.
type ReleaseQuotaResult struct {
	Result
	// "released"; "none": there was nothing to give back.
	Outcome string `json:"outcome"`
	// How many units of that day are still used.
	Used int64 `json:"used"`
}

// BeginSignupResult lets an address sign up.
type BeginSignupResult struct {
	Result
	// For FinishSignup. Stays on the server.
	Ticket  string            `json:"ticket"`
	Left    int64             `json:"left"`
	ResetAt Time              `json:"resetAtMs"`
	Headers map[string]string `json:"headers"`
	// "admitted", "exhausted", "malformed".
	Outcome string `json:"outcome"`
}

// FinishSignupResult is what became of a sign-up.
type FinishSignupResult struct {
	Result
	// The result that it was told.
	Outcome string `json:"outcome"`
	// The address may make another account instead.
	Released bool `json:"released"`
}

// AcquireRatePermitResult is whether a request to Apple may go out now.
type AcquireRatePermitResult struct {
	Result
	// "acquired"; refused: "limited".
	Outcome string `json:"outcome"`
	// Requests of this second, and the most of them; zero where Apple names no limit.
	Used  int64 `json:"used"`
	Limit int64 `json:"limit"`
	// The store was away: the request may go out all the same.
	Unlimited bool `json:"unlimited"`
}

// IssueChallengeResult is for the app. Only its hash is stored.
type IssueChallengeResult struct {
	Result
	// 43 characters of base64url: what the app gets.
	Text      string `json:"-"`
	SHA256    string `json:"sha256"`
	ExpiresAt Time   `json:"expiresAtMs"`
}

// ConsumeChallengeResult says that a challenge was used.
type ConsumeChallengeResult struct {
	Result
	// "consumed"; refused: "used", "expired", "mismatch", "unknown".
	Outcome string `json:"outcome"`
}

// RegisterDeviceKeyResult says that an attested key is of an account.
type RegisterDeviceKeyResult struct {
	Result
	// "registered", "already"; refused: "other-account", "retired".
	Outcome string `json:"outcome"`
	// The normal form, base64.
	KeyID string `json:"keyId"`
	// False for a repetition.
	Changed bool `json:"changed"`
}

// AdvanceDeviceKeyCounterResult is the counter of a key after an assertion.
type AdvanceDeviceKeyCounterResult struct {
	Result
	// "advanced"; refused: "replayed", "unknown", "retired", "other-account".
	Outcome string `json:"outcome"`
	KeyID   string `json:"keyId"`
	Counter int64  `json:"counter"`
}

// UpdateDeviceKeyReceiptResult is what became of an App Attest receipt.
type UpdateDeviceKeyReceiptResult struct {
	Result
	// "kept"; "older": a later one is stored. Refused: "unknown", "retired".
	Outcome string `json:"outcome"`
	// When to ask Apple for a newer one; zero: never.
	NextRefreshAt Time `json:"nextRefreshAtMs"`
}

// RetireDeviceKeyResult says that a key is used no longer.
type RetireDeviceKeyResult struct {
	Result
	// "retired", "already"; refused: "unknown", "other-account".
	Outcome string `json:"outcome"`
	// False for a repetition.
	Changed bool `json:"changed"`
}

// GetDeviceKeyResult is a key that was bound.
type GetDeviceKeyResult struct {
	Result
	// "found"; refused: "unknown", "other-account", "retired".
	Outcome string `json:"outcome"`
	// Nil where it is refused.
	Key *DeviceKey `json:"key"`
}

// A DeviceKey is an attested key: PublicKey and Counter go into VerifyAssertion.
type DeviceKey struct {
	// The normal form, base64.
	KeyID string `json:"keyId"`
	// 65 bytes.
	PublicKey   []byte                  `json:"publicKey"`
	Counter     int64                   `json:"counter"`
	AppID       string                  `json:"appId"`
	Environment assay.AttestEnvironment `json:"environment"`
	CreatedAt   Time                    `json:"createdAtMs"`
	UsedAt      Time                    `json:"usedAtMs"`
	// The newest App Attest receipt; nil: none was kept.
	Receipt []byte `json:"receipt"`
	// When to ask Apple for a newer one; zero: never.
	NextRefreshAt Time `json:"nextRefreshAtMs"`
	// Apple's metric of the receipt; nil: none.
	Risk *int64 `json:"risk"`
}

// RecordEventResult is whether something happened for the first time.
type RecordEventResult struct {
	Result
	// "first": do it; "duplicate": it was done.
	Outcome string `json:"outcome"`
	// When it was first.
	StoredAt Time `json:"storedAtMs"`
}

// MergeAccountsResult says that two accounts are one now.
type MergeAccountsResult struct {
	Result
	// "merged", "already".
	Outcome string    `json:"outcome"`
	Moved   MovedRows `json:"moved"`
	// Call again with the same, by MergeAccountsWith with the same AttemptID.
	HasMore bool `json:"hasMore"`
	Changed bool `json:"changed"`
	// To what it was joined before; with MergeAccountsRequest.OperatorView.
	MergedInto string `json:"mergedInto"`
}

// ForgetAccountResult says that an account's id is nowhere any more.
type ForgetAccountResult struct {
	Result
	// "forgotten", "already".
	Outcome   string    `json:"outcome"`
	Forgotten MovedRows `json:"forgotten"`
	// Call again with the same, by ForgetAccountWith with the same AttemptID.
	HasMore bool `json:"hasMore"`
	Changed bool `json:"changed"`
}

// MovedRows are how many rows of each kind.
type MovedRows struct {
	Subscriptions int64 `json:"subscriptions"`
	Purchases     int64 `json:"purchases"`
	Keys          int64 `json:"keys"`
	Meters        int64 `json:"meters"`
}

// GetEvidenceResult is texts that were kept (STO-68).
type GetEvidenceResult struct {
	Result
	Evidence []StoredEvidence `json:"evidence"`
	// SHA-256 of those that are not there.
	Missing []string `json:"missing"`
}

// A StoredEvidence is no evidence until it is verified again.
type StoredEvidence struct {
	SHA256   string `json:"sha256"`
	Text     string `json:"text"`
	StoredAt Time   `json:"storedAtMs"`
}

// CheckSchemaResult is a store that has all its tables.
type CheckSchemaResult struct {
	Result
	Tables []string `json:"tables"`
	// Whether this is no standby.
	Primary bool  `json:"primary"`
	Version int64 `json:"version"`
	// Of this store alone: another one later is another store under its name.
	Lineage string `json:"lineage"`
	// What is not refused, but should be looked at: "not-persistent", "unknown" (Redis).
	Warnings []string `json:"warnings"`
}
