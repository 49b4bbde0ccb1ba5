package ledger

import (
	"encoding/json"
	"time"

	assay "assay.example/bindings/go"
)

// A Time is an instant in UTC; the zero time if there is none.
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

// A Result has the members that the results of all operations share.
type Result struct {
	// Document is the whole document.
	Document *assay.Document `json:"-"`
	Status   assay.Status    `json:"-"`
	// HTTPStatus is the status with which a back end answers its own client.
	HTTPStatus int `json:"-"`
}

func (r *Result) of(document *assay.Document) {
	r.Document, r.Status = document, document.Status()
	r.HTTPStatus = r.Status.HTTPStatus()
}

// again returns the result with status 503, after which Apple sends a notification again.
func (r Result) again() Result {
	r.HTTPStatus = 503
	return r
}

// ClaimResult is the outcome of claiming the purchases of some evidence.
type ClaimResult struct {
	Result
	// Outcome is that of the first claim that needs a grant, else of the newest purchase. See
	// Claim.
	Outcome string `json:"outcome"`
	// ClientResult is the result for the app (LST-2): "granted", "already-granted",
	// "refused-final", "refused-keep", "deferred"; empty while a grant is needed.
	ClientResult string `json:"clientResult"`
	// Claims has one element for each purchase, in purchase order.
	Claims []Claim `json:"claims"`
	// Remaining is the number of purchases that were left for another call.
	Remaining int64 `json:"remaining"`
	// Whether this call changed what the account has.
	Changed bool `json:"changed"`
}

// A Claim is the outcome of claiming one purchase.
type Claim struct {
	// PurchaseKey is the key of the ledger row; empty if the purchase cannot have one.
	PurchaseKey   string `json:"purchaseKey"`
	TransactionID string `json:"transactionId"`
	// Outcome is "new" or "resume" if you must grant the purchase; else "already-granted",
	// "in-progress", "other-account", "revoked", "superseded", "held", "unknown-product",
	// "upgraded", "family-shared", "unclaimed", "refused" or "granted".
	Outcome string `json:"outcome"`
	// Status is the reason of the outcome "refused".
	Status string `json:"status"`
	// ClientResult is the result for the app (LST-2); empty while a grant is needed.
	ClientResult string `json:"clientResult"`
	Product      string `json:"product"`
	Quantity     int64  `json:"quantity"`
	// Units is the amount to give while a grant is needed: Quantity × `products.<id>.units`.
	Units int64 `json:"units"`
	// Whether the grant id was handed out before, while a grant is needed.
	Repeat bool `json:"repeat"`
	// Reason is "lease" for the outcome "held" of a purchase that was handed out under a
	// lease, so that no transaction may grant it (STO-37).
	Reason string `json:"reason"`
	// Whether this call changed what the account has.
	Changed bool `json:"changed"`
	// GrantID is the id under which you store what you give.
	GrantID string `json:"grantId"`
	// FencingToken grows with each take-over (STO-26).
	FencingToken int64  `json:"fencingToken"`
	Account      string `json:"account"`
	// LeaseExpiresAt is the time until which no other attempt takes the claim over.
	LeaseExpiresAt Time `json:"leaseExpiresAtMs"`
	// RetryAfterMs is the time to wait before the next call, in milliseconds.
	RetryAfterMs int64 `json:"retryAfterMs"`
	// ClaimedAt is set for the outcome "held".
	ClaimedAt Time `json:"claimedAtMs"`
	GrantedAt Time `json:"grantedAtMs"`
	RevokedAt Time `json:"revokedAtMs"`
}

// NeedsGrant reports whether this call holds the claim and the purchase is not granted yet.
func (c *Claim) NeedsGrant() bool {
	return c.ClientResult == "" && (c.Outcome == "new" || c.Outcome == "resume")
}

// Grant returns what to give for a claim that needs a grant.
func (c *Claim) Grant() *Grant {
	return &Grant{PurchaseKey: c.PurchaseKey, ID: c.GrantID, FencingToken: c.FencingToken,
		Account: c.Account,
		Product: c.Product, Quantity: c.Quantity, Units: c.Units, Repeat: c.Repeat}
}

// Grants returns what is claimed and not granted yet.
func (c *ClaimResult) Grants() []*Grant { return grants(c.Claims) }

func grants(claims []Claim) (found []*Grant) {
	for i := range claims {
		if claims[i].NeedsGrant() {
			found = append(found, claims[i].Grant())
		}
	}
	return found
}

// ended sets the outcome of a claim after its grant.
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

// later marks the claims that could not be completed as perhaps granted (STO-20); why is the
// result that prevented it.
func (c *ClaimResult) later(why *Result) {
	later(c.Claims)
	c.Result, c.Outcome, c.ClientResult = *why, "resume", "deferred"
}

// ResumeResult is the outcome of one resumed claim.
type ResumeResult struct {
	Result
	// Outcome is that of the claim. See Claim.
	Outcome string `json:"outcome"`
	// ClientResult is the result for the app (LST-2): "granted", "already-granted",
	// "refused-final", "refused-keep", "deferred"; empty while a grant is needed.
	ClientResult string `json:"clientResult"`
	// Claims has the one claim.
	Claims []Claim `json:"claims"`
	// Whether this call changed what the account has.
	Changed bool `json:"changed"`
}

// Grants returns what is claimed and not granted yet.
func (c *ResumeResult) Grants() []*Grant { return grants(c.Claims) }

// ended sets the outcome of a claim after its grant.
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

// later marks the claims that could not be completed as perhaps granted (STO-20); why is the
// result that prevented it.
func (c *ResumeResult) later(why *Result) {
	later(c.Claims)
	c.Result, c.Outcome, c.ClientResult = *why, "resume", "deferred"
}

// ended returns the claim of a grant, with its outcome set; nil if it is not among them.
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

// CompleteResult is the outcome of completing a purchase that you have granted.
type CompleteResult struct {
	Result
	// Outcome is "granted"; "revoked" or "superseded" if you must take back what you stored
	// under this grant id.
	Outcome string `json:"outcome"`
	// ClientResult is the result for the app (LST-2).
	ClientResult string `json:"clientResult"`
	GrantedAt    Time   `json:"grantedAtMs"`
	RevokedAt    Time   `json:"revokedAtMs"`
	// Whether this call changed the row; false for a repetition.
	Changed bool `json:"changed"`
}

// ResumeExpiredResult has claims whose lease has expired and which this call took over: grant
// each under its grant id, then complete it.
type ResumeExpiredResult struct {
	Result
	Claims []Claim `json:"claims"`
	// Held are claims that an operator must resolve (STO-27).
	Held []Claim `json:"held"`
	// Whether to call again at once.
	HasMore bool `json:"hasMore"`
}

// Grants returns what is claimed and not granted yet.
func (d *ResumeExpiredResult) Grants() []*Grant { return grants(d.Claims) }

func (d *ResumeExpiredResult) ended(grant *Grant, completed *CompleteResult) {
	ended(d.Claims, grant, completed)
}

func (d *ResumeExpiredResult) later(why *Result) {
	later(d.Claims)
	d.Result = *why
}

// RevokeResult has the purchases that Apple took back.
type RevokeResult struct {
	Result
	Revocations []PurchaseRevocation `json:"revocations"`
	Changed     bool                 `json:"changed"`
}

// Takes returns what to take back.
func (r *RevokeResult) Takes() (found []Take) {
	for i := range r.Revocations {
		if take := r.Revocations[i].Take; take != nil {
			found = append(found, *take)
		}
	}
	return found
}

// CompleteRevocationResult is the outcome of completing a take-back.
type CompleteRevocationResult struct {
	Result
	// Outcome is "taken", "already", or "superseded" if something newer is stored or handed
	// out.
	Outcome   string `json:"outcome"`
	RevokedAt Time   `json:"revokedAtMs"`
	// Debt is the units that could not be taken; they are stored for an operator.
	Debt int64 `json:"debt"`
	// Whether this call changed the row; false for a repetition.
	Changed bool `json:"changed"`
}

// ResumeExpiredRevocationsResult has take-backs that were not completed in time and which this
// call took over: take each back, then complete it.
type ResumeExpiredRevocationsResult struct {
	Result
	Takes []Take `json:"takes"`
	// Whether to call again at once.
	HasMore bool `json:"hasMore"`
}

// ApplyEventResult is what a notification changed. Answer Apple with HTTPStatus.
type ApplyEventResult struct {
	Result
	// Take has what to take back.
	Take []Take `json:"take"`
	// Give has the claims of reversed refunds; Grants returns those that need a grant.
	Give []Claim `json:"give"`
	// Subscriptions has the outcome for subscriptions and unlocks.
	Subscriptions []SubscriptionUpdate `json:"subscriptions"`
	// Refused has the parts that were refused for good: log them, and answer 200.
	Refused []RefusedPart `json:"refused"`
	Changed bool          `json:"changed"`
}

// Grants returns what to grant again.
func (e *ApplyEventResult) Grants() []*Grant { return grants(e.Give) }

// A RefusedPart is a part of a notification that was refused; the rest was applied.
type RefusedPart struct {
	// At is "ledger" or "subscription".
	At            string `json:"at"`
	TransactionID string `json:"transactionId"`
	// Status is the reason: "rejected.product.unknown" …
	Status string `json:"status"`
}

// A PurchaseRevocation is the outcome for one purchase that Apple took back. Act on Take only.
type PurchaseRevocation struct {
	PurchaseKey   string `json:"purchaseKey"`
	TransactionID string `json:"transactionId"`
	// Outcome is the state in which the purchase was: "was-granted", "was-claimed",
	// "unclaimed", "already", "stale", "not-revoked", "refused", "in-progress".
	Outcome  string `json:"outcome"`
	Account  string `json:"account"`
	Product  string `json:"product"`
	Quantity int64  `json:"quantity"`
	// Percentage is the part of a partial refund, in thousandths of a percent.
	Percentage *int64 `json:"percentage"`
	// GrantID is the id under which the purchase was granted, if there is something to take
	// back.
	GrantID   string `json:"grantId"`
	RevokedAt Time   `json:"revokedAtMs"`
	// Take is what to take back; nil for nothing.
	Take    *Take `json:"take"`
	Changed bool  `json:"changed"`
}

// FindResult is whether a purchase was used, and by which account.
type FindResult struct {
	Result
	// Outcome is that of the first row: "already-delivered", "resume" (claimed, not granted),
	// "refunded" or "used-by-other"; "unused" if it is genuine and has no row, "unproven" if
	// there is neither row nor evidence.
	Outcome string `json:"outcome"`
	// Whether the newest rows may be missing (DynamoDB).
	Eventual bool             `json:"eventual"`
	Rows     []LedgerPurchase `json:"rows"`
}

// A LedgerPurchase is one row of the ledger, for support.
type LedgerPurchase struct {
	PurchaseKey   string            `json:"purchaseKey"`
	Environment   assay.Environment `json:"environment"`
	TransactionID string            `json:"transactionId"`
	// Outcome is the outcome for the customer.
	Outcome string `json:"outcome"`
	// State is "claimed", "granted" or "revoked".
	State       string `json:"state"`
	Product     string `json:"product"`
	Quantity    int64  `json:"quantity"`
	PurchasedAt Time   `json:"purchasedAtMs"`
	ClaimedAt   Time   `json:"claimedAtMs"`
	GrantedAt   Time   `json:"grantedAtMs"`
	RevokedAt   Time   `json:"revokedAtMs"`
	// Whether the row belongs to the account in the request; nil if the request has none.
	IsOwn *bool `json:"isOwn"`
	// GrantID is returned to the account of the row and to operators.
	GrantID string `json:"grantId"`
	// OperatorView is returned to operators only.
	OperatorView *OperatorFacts `json:"operatorView"`
}

// OperatorFacts are the members of a row that only an operator may see.
type OperatorFacts struct {
	Account string `json:"account"`
	// Note is that of a grant made by hand.
	Note string `json:"note"`
	// Evidence is the SHA-256 of the stored text, 64 hex digits.
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
	// Plan is the one of the configuration when the row was stored.
	Plan           string `json:"plan"`
	PurchasedAt    Time   `json:"purchasedAtMs"`
	ExpiresAt      Time   `json:"expiresAtMs"`
	GraceExpiresAt Time   `json:"graceExpiresAtMs"`
	RevokedAt      Time   `json:"revokedAtMs"`
	DeactivatedAt  Time   `json:"deactivatedAtMs"`
	// AsOf is the date of the newest evidence.
	AsOf Time `json:"asOfMs"`
	// NextCheckAt is when to ask Apple for newer evidence.
	NextCheckAt Time `json:"nextCheckAtMs"`
	// Whether it entitles its owner to its plan now.
	IsActive bool `json:"isActive"`
}

// A DueSubscription is a subscription about which to ask Apple for newer evidence.
type DueSubscription struct {
	Environment           assay.Environment `json:"environment"`
	OriginalTransactionID string            `json:"originalTransactionId"`
	TransactionID         string            `json:"transactionId"`
	// Account is the owner; empty if no account has claimed the subscription yet.
	Account        string `json:"account"`
	ProductID      string `json:"productId"`
	ExpiresAt      Time   `json:"expiresAtMs"`
	GraceExpiresAt Time   `json:"graceExpiresAtMs"`
	// AsOf is the date of the newest evidence.
	AsOf Time `json:"asOfMs"`
	// Evidence is the SHA-256 of the stored text, 64 hex digits.
	Evidence string `json:"evidence"`
}

// UpdateSubscriptionsResult is what evidence changed in the subscriptions of an account.
type UpdateSubscriptionsResult struct {
	Result
	// Plan is the current one; empty without an account.
	Plan          string               `json:"plan"`
	ExpiresAt     Time                 `json:"expiresAtMs"`
	Subscriptions []SubscriptionUpdate `json:"subscriptions"`
	Changed       bool                 `json:"changed"`
}

// A SubscriptionUpdate is the outcome for one subscription.
type SubscriptionUpdate struct {
	// Outcome is "applied", "stale" (something newer is stored), "transferred",
	// "other-account", "transfer-too-soon", "excluded", "unknown-product" or "refused".
	Outcome string `json:"outcome"`
	// Status is the reason of the outcome "refused".
	Status        string `json:"status"`
	TransactionID string `json:"transactionId"`
	Changed       bool   `json:"changed"`
	// Whether a repetition with ConfirmTransfer, after asking the customer, transfers it.
	CanTransfer bool `json:"canTransfer"`
	// Subscription is the row as stored now.
	Subscription *Subscription `json:"subscription"`
}

// GetPlanResult is the current plan of an account.
type GetPlanResult struct {
	Result
	// Plan is the best of its active subscriptions; without one the first of `plans`.
	Plan string `json:"plan"`
	// ExpiresAt is zero if the plan has no end.
	ExpiresAt     Time           `json:"expiresAtMs"`
	Subscriptions []Subscription `json:"subscriptions"`
	ReadAt        Time           `json:"readAtMs"`
	// Whether the database was unavailable and the plan is GetPlanRequest.CachedPlan
	// (`ledger.failOpen`).
	IsCached bool `json:"isCached"`
}

// DeactivateSubscriptionsResult is the remaining plan.
type DeactivateSubscriptionsResult struct {
	Result
	// Plan is the best of its active subscriptions; without one the first of `plans`.
	Plan string `json:"plan"`
	// ExpiresAt is zero if the plan has no end.
	ExpiresAt     Time           `json:"expiresAtMs"`
	Subscriptions []Subscription `json:"subscriptions"`
	// Deactivated is the number of subscriptions that were deactivated.
	Deactivated int64 `json:"deactivated"`
	Changed     bool  `json:"changed"`
}

// LeaseDueSubscriptionsResult has subscriptions about which to ask Apple; pass the new
// evidence to UpdateSubscriptions.
type LeaseDueSubscriptionsResult struct {
	Result
	Subscriptions []DueSubscription `json:"subscriptions"`
	// Whether to call again at once.
	HasMore bool `json:"hasMore"`
}

// ConsumeQuotaResult is the state of a meter for today.
type ConsumeQuotaResult struct {
	Result
	// Outcome is "consumed", "exhausted" or "not-in-plan".
	Outcome string `json:"outcome"`
	// Used is the number of consumed units, including this call's: 1 for the first.
	Used  int64 `json:"used"`
	Limit int64 `json:"limit"`
	Left  int64 `json:"left"`
	// ResetAt is the start of the next day.
	ResetAt Time `json:"resetAtMs"`
	// Ticket is for ReleaseQuota, which returns the units. Keep it on the server.
	Ticket string `json:"ticket"`
	// Headers are for the HTTP response, name to value.
	Headers map[string]string `json:"headers"`
	// Fallback is the meter to try instead.
	Fallback string `json:"fallback"`
	// Whether the database was unavailable and nothing was counted.
	Unmetered bool `json:"unmetered"`
}

// ReleaseQuotaResult is whether units were returned.
type ReleaseQuotaResult struct {
	Result
	// Outcome is "released"; "none" if there was nothing to return.
	Outcome string `json:"outcome"`
	// Used is the number of units of that day that are still consumed.
	Used int64 `json:"used"`
}

// BeginSignupResult is whether an address may sign up.
type BeginSignupResult struct {
	Result
	// Ticket is for FinishSignup. Keep it on the server.
	Ticket  string            `json:"ticket"`
	Left    int64             `json:"left"`
	ResetAt Time              `json:"resetAtMs"`
	Headers map[string]string `json:"headers"`
	// Outcome is "admitted", "exhausted" or "malformed".
	Outcome string `json:"outcome"`
}

// FinishSignupResult is the outcome of a sign-up.
type FinishSignupResult struct {
	Result
	// Outcome is the result that the request contained.
	Outcome string `json:"outcome"`
	// Whether the address may sign up again.
	Released bool `json:"released"`
}

// AcquireRatePermitResult is whether a request to Apple may be sent now.
type AcquireRatePermitResult struct {
	Result
	// Outcome is "acquired"; "limited" if refused.
	Outcome string `json:"outcome"`
	// Used is the requests of this second, Limit the most of them; zero if Apple names no
	// limit.
	Used  int64 `json:"used"`
	Limit int64 `json:"limit"`
	// Whether the database was unavailable; the request may be sent all the same.
	Unlimited bool `json:"unlimited"`
}

// IssueChallengeResult has a challenge for the app. Only its hash is stored.
type IssueChallengeResult struct {
	Result
	// Text is what the app gets, 43 characters of base64url.
	Text      string `json:"-"`
	SHA256    string `json:"sha256"`
	ExpiresAt Time   `json:"expiresAtMs"`
}

// ConsumeChallengeResult is whether a challenge was valid, which it is once.
type ConsumeChallengeResult struct {
	Result
	// Outcome is "consumed"; "used", "expired", "mismatch" or "unknown" if refused.
	Outcome string `json:"outcome"`
}

// RegisterDeviceKeyResult is whether an attested key now belongs to an account.
type RegisterDeviceKeyResult struct {
	Result
	// Outcome is "registered" or "already"; "other-account" or "retired" if refused.
	Outcome string `json:"outcome"`
	// KeyID is the normal form, standard base64.
	KeyID string `json:"keyId"`
	// Whether this call changed the row; false for a repetition.
	Changed bool `json:"changed"`
}

// AdvanceDeviceKeyCounterResult is the counter of a device key after an assertion.
type AdvanceDeviceKeyCounterResult struct {
	Result
	// Outcome is "advanced"; "replayed", "unknown", "retired" or "other-account" if refused.
	Outcome string `json:"outcome"`
	KeyID   string `json:"keyId"`
	Counter int64  `json:"counter"`
}

// UpdateDeviceKeyReceiptResult is the outcome of storing an App Attest receipt.
type UpdateDeviceKeyReceiptResult struct {
	Result
	// Outcome is "kept"; "older" if a later one is stored; "unknown" or "retired" if refused.
	Outcome string `json:"outcome"`
	// NextRefreshAt is when to ask Apple for a newer receipt; zero for never.
	NextRefreshAt Time `json:"nextRefreshAtMs"`
}

// RetireDeviceKeyResult is whether a device key is retired now.
type RetireDeviceKeyResult struct {
	Result
	// Outcome is "retired" or "already"; "unknown" or "other-account" if refused.
	Outcome string `json:"outcome"`
	// Whether this call changed the row; false for a repetition.
	Changed bool `json:"changed"`
}

// GetDeviceKeyResult is a registered device key.
type GetDeviceKeyResult struct {
	Result
	// Outcome is "found"; "unknown", "other-account" or "retired" if refused.
	Outcome string `json:"outcome"`
	// Key is nil if the request is refused.
	Key *DeviceKey `json:"key"`
}

// A DeviceKey is an attested key; pass its PublicKey and Counter to VerifyAssertion.
type DeviceKey struct {
	// KeyID is the normal form, standard base64.
	KeyID string `json:"keyId"`
	// PublicKey is 65 bytes, an uncompressed point (X9.63).
	PublicKey   []byte                  `json:"publicKey"`
	Counter     int64                   `json:"counter"`
	AppID       string                  `json:"appId"`
	Environment assay.AttestEnvironment `json:"environment"`
	CreatedAt   Time                    `json:"createdAtMs"`
	UsedAt      Time                    `json:"usedAtMs"`
	// Receipt is the newest App Attest receipt; nil if none is stored.
	Receipt []byte `json:"receipt"`
	// NextRefreshAt is when to ask Apple for a newer receipt; zero for never.
	NextRefreshAt Time `json:"nextRefreshAtMs"`
	// Risk is Apple's risk metric in the receipt; nil if there is none.
	Risk *int64 `json:"risk"`
}

// RecordEventResult is whether an event happened for the first time.
type RecordEventResult struct {
	Result
	// Outcome is "first" if you must handle the event; "duplicate" if it was recorded before.
	Outcome string `json:"outcome"`
	// StoredAt is when the event was first recorded.
	StoredAt Time `json:"storedAtMs"`
}

// MergeAccountsResult is the outcome of merging one account into another.
type MergeAccountsResult struct {
	Result
	// Outcome is "merged" or "already".
	Outcome string    `json:"outcome"`
	Moved   MovedRows `json:"moved"`
	// Whether to call again with the same arguments, by MergeAccountsWith with the same
	// AttemptID.
	HasMore bool `json:"hasMore"`
	Changed bool `json:"changed"`
	// MergedInto is the account of an earlier merge; only with
	// MergeAccountsRequest.OperatorView.
	MergedInto string `json:"mergedInto"`
}

// ForgetAccountResult is the outcome of removing an account's id from all rows.
type ForgetAccountResult struct {
	Result
	// Outcome is "forgotten" or "already".
	Outcome   string    `json:"outcome"`
	Forgotten MovedRows `json:"forgotten"`
	// Whether to call again with the same arguments, by ForgetAccountWith with the same
	// AttemptID.
	HasMore bool `json:"hasMore"`
	Changed bool `json:"changed"`
}

// MovedRows are the numbers of rows of each kind.
type MovedRows struct {
	Subscriptions int64 `json:"subscriptions"`
	Purchases     int64 `json:"purchases"`
	Keys          int64 `json:"keys"`
	Meters        int64 `json:"meters"`
}

// GetEvidenceResult has stored signed texts (STO-68).
type GetEvidenceResult struct {
	Result
	Evidence []StoredEvidence `json:"evidence"`
	// Missing has the SHA-256 of each text that is not stored.
	Missing []string `json:"missing"`
}

// A StoredEvidence is no evidence until it is verified again.
type StoredEvidence struct {
	SHA256   string `json:"sha256"`
	Text     string `json:"text"`
	StoredAt Time   `json:"storedAtMs"`
}

// CheckSchemaResult is a database that has all its tables.
type CheckSchemaResult struct {
	Result
	Tables []string `json:"tables"`
	// Whether the database is a primary, not a standby.
	Primary bool  `json:"primary"`
	Version int64 `json:"version"`
	// Lineage identifies this database: a different value later means that it was replaced.
	Lineage string `json:"lineage"`
	// Warnings are findings that need attention: "not-persistent", "unknown" (Redis).
	Warnings []string `json:"warnings"`
}
