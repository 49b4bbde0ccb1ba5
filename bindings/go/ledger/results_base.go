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

// Grants are what to pay out.
func (d *ResumeExpiredResult) Grants() []*Grant { return grants(d.Claims) }

func (d *ResumeExpiredResult) ended(grant *Grant, completed *CompleteResult) {
	ended(d.Claims, grant, completed)
}

func (d *ResumeExpiredResult) later(why *Result) {
	later(d.Claims)
	d.Result = *why
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

// Grants are what to pay out again.
func (e *ApplyEventResult) Grants() []*Grant { return grants(e.Give) }
