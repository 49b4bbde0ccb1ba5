package assay

import "time"

// EvidenceReach is how far the evidence reaches: what happened after AsOf is invisible.
type EvidenceReach struct {
	// "signed" or "apple-answer".
	Class string `json:"class"`
	// Kinds of the documents.
	Kinds []string `json:"kinds"`
	// As of when it speaks.
	AsOf time.Time `json:"asOf"`
	// Whether nothing is missing.
	Complete bool `json:"complete"`
	// "transaction", "renewal", "revocation".
	Missing []string `json:"missing"`
}

// Delivery is one purchase of a consumable: deliver it once under Key.
type Delivery struct {
	// What may be paid out once; empty: a part is missing.
	Key string `json:"key"`
	// The transaction.
	TransactionID string `json:"transactionId"`
	// How many.
	Quantity int64 `json:"quantity"`
	// When it was refunded.
	RevokedAt time.Time `json:"revokedAt"`
	// Thousandths of a percent to take back.
	RevocationPercentage *int64 `json:"revocationPercentage"`
}

// LeftOut is a transaction that decided nothing, and why.
type LeftOut struct {
	// "unknown-product", "unknown-type", "type-mismatch", "sandbox".
	Reason string `json:"reason"`
	// Its product.
	ProductID string `json:"productId"`
	// Its line.
	OriginalTransactionID string `json:"originalTransactionId"`
	// The transaction.
	TransactionID string `json:"transactionId"`
	// "Production", "Sandbox" …
	Environment Environment `json:"environment"`
}

// GroupDecision is what one subscription group, or one product without a group, gives.
type GroupDecision struct {
	// Its plan while entitled, else the default one.
	Plan string `json:"plan"`
	// Whether it is in force now.
	Entitled bool `json:"entitled"`
	// As in Decision: "active", "grace", "expired" …
	State State `json:"state"`
	// "DEC-10": the row of the decision table.
	Row string `json:"row"`
	// "trial", "will-not-renew", "family" …
	Flags []string `json:"flags"`
	// Apple's number of the reason.
	Reason *int64 `json:"reason"`
	// First moment outside the entitlement; zero where nothing is granted.
	Until time.Time `json:"until"`
	// Where nothing is granted: the end of what was bought.
	WouldBeUntil time.Time `json:"wouldBeUntil"`
	// End of a renewal booked ahead.
	BookedUntil time.Time `json:"bookedUntil"`
	// End of the grace period.
	GraceUntil time.Time `json:"graceUntil"`
	// The product that decided.
	ProductID string `json:"productId"`
	// Its line.
	OriginalTransactionID string `json:"originalTransactionId"`
	// The transaction that decided.
	TransactionID string `json:"transactionId"`
	// "Production", "Sandbox" …
	Environment Environment `json:"environment"`
	// "proven", "unproven"; empty: no account was compared.
	Account string `json:"account"`
	// Newer evidence would say more.
	Stale bool `json:"stale"`
	// When to decide again.
	NextCheck time.Time `json:"nextCheck"`
	// Its reach.
	Evidence EvidenceReach `json:"evidence"`
	// The subscription group, else the product id.
	Group string `json:"group"`
	// "auto-renewable", "consumable" …
	Type ProductType `json:"type"`
	// Consumables alone: every purchase shown.
	Purchases []Delivery `json:"purchases"`
}

// Decision is what an account may have now.
//
// Entitled is the answer, Plan what is in force (the default plan when not entitled),
// State why, Until and NextCheck when to look again.
type Decision struct {
	Facts
	// The plan in force; the default one when none is.
	Plan string `json:"plan"`
	// Whether a plan above the default one is in force. False for any doubt.
	Entitled bool `json:"entitled"`
	// "active", "grace", "billing-retry", "expired", "refunded", "revoked-family",
	// "superseded", "not-started", "denied-by-policy", "stale", "owned", "once", "none".
	State State `json:"state"`
	// "DEC-10": the row of the decision table.
	Row string `json:"row"`
	// "trial", "intro", "offer", "will-not-renew", "change-pending", "renewal-booked",
	// "price-consent-pending", "cancelled", "family", "assigned", "by-this-evidence".
	Flags []string `json:"flags"`
	// Refunded: revocation reason; expired: expiration intent.
	Reason *int64 `json:"reason"`
	// First moment outside the entitlement, or from when a refund took it; zero: no
	// end, or nothing is granted.
	Until time.Time `json:"until"`
	// Where nothing is granted: the end of what was bought.
	WouldBeUntil time.Time `json:"wouldBeUntil"`
	// End of a renewal booked ahead.
	BookedUntil time.Time `json:"bookedUntil"`
	// End of the billing grace period.
	GraceUntil time.Time `json:"graceUntil"`
	// The product that decided.
	ProductID string `json:"productId"`
	// Its line.
	OriginalTransactionID string `json:"originalTransactionId"`
	// The transaction that decided.
	TransactionID string `json:"transactionId"`
	// "Production", "Sandbox" …
	Environment Environment `json:"environment"`
	// "proven": Apple's evidence carries the account; "unproven": it carries none;
	// empty: no account was compared.
	Account string `json:"account"`
	// Newer evidence would say more: ask for it.
	Stale bool `json:"stale"`
	// When to decide again; zero: no need.
	NextCheck time.Time `json:"nextCheck"`
	// How far the evidence reaches.
	Evidence EvidenceReach `json:"evidence"`
	// Every group, the leading one first.
	Groups []GroupDecision `json:"groups"`
	// Transactions that decided nothing.
	LeftOut []LeftOut `json:"leftOut"`
	// What refused nothing but should be looked at, of this evidence alone.
	Warnings []Warning `json:"warnings"`
}
