package assay

import "time"

// NotificationData is the body `data`. The JWS in it are verified: see the
// notification's facts.
type NotificationData struct {
	// Where it happened.
	Environment Environment `json:"environment"`
	// Apple's number of the app.
	AppAppleID int64 `json:"appAppleId"`
	// The app.
	BundleID string `json:"bundleId"`
	// Version of the app.
	BundleVersion string `json:"bundleVersion"`
	// JWS text.
	SignedTransactionInfo string `json:"signedTransactionInfo"`
	// JWS text.
	SignedRenewalInfo string `json:"signedRenewalInfo"`
	// 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
	Status int64 `json:"status"`
	// Why the customer asks for a refund.
	ConsumptionRequestReason ConsumptionRequestReason `json:"consumptionRequestReason"`
}

// NotificationSummary is the body `summary`: the end of a mass extension.
type NotificationSummary struct {
	// Where it happened.
	Environment Environment `json:"environment"`
	// Apple's number of the app.
	AppAppleID int64 `json:"appAppleId"`
	// The app.
	BundleID string `json:"bundleId"`
	// The product that was extended.
	ProductID string `json:"productId"`
	// UUID of your request.
	RequestIdentifier string `json:"requestIdentifier"`
	// Countries, three letters each.
	StorefrontCountryCodes []string `json:"storefrontCountryCodes"`
	// How many were extended.
	SucceededCount int64 `json:"succeededCount"`
	// How many were not.
	FailedCount int64 `json:"failedCount"`
}

// NotificationExternalPurchaseToken is the body `externalPurchaseToken`.
type NotificationExternalPurchaseToken struct {
	// Id of the token.
	ExternalPurchaseID string `json:"externalPurchaseId"`
	// Apple's number of the app.
	AppAppleID int64 `json:"appAppleId"`
	// The app.
	BundleID string `json:"bundleId"`
	// When it was made.
	TokenCreationDate time.Time `json:"tokenCreationDate"`
	// When it ends.
	TokenExpirationDate time.Time `json:"tokenExpirationDate"`
	// "SERVICES" or "ACQUISITION".
	TokenType ExternalPurchaseTokenType `json:"tokenType"`
}

// NotificationAppData is the body `appData`. The JWS in it is verified: see
// AppTransaction.
type NotificationAppData struct {
	// Where it happened.
	Environment Environment `json:"environment"`
	// Apple's number of the app.
	AppAppleID int64 `json:"appAppleId"`
	// The app.
	BundleID string `json:"bundleId"`
	// JWS text.
	SignedAppTransactionInfo string `json:"signedAppTransactionInfo"`
}

// Notification is an App Store Server Notification V2, with everything signed inside
// verified.
//
// Type and subtype say why it was sent; Transaction and Renewal say what is true.
// They come late, twice and out of order: keep one by NotificationUUID, and apply
// only evidence with a later SignedDate than what is stored.
type Notification struct {
	Signed
	// "DID_RENEW", "REFUND" …
	Type NotificationType `json:"type"`
	// "VOLUNTARY", "UPGRADE" …
	Subtype Subtype `json:"subtype"`
	// Whether this version knows the type and subtype.
	Known bool `json:"known"`
	// What it is about for entitlements: "grant", "keep", "end", "recompute", "none".
	Effect Effect `json:"effect"`
	// The same in every retry.
	UUID string `json:"uuid"`
	// "2.0".
	Version string `json:"version"`
	// "data", "summary", "externalPurchaseToken" or "appData".
	Body NotificationBody `json:"body"`
	// Apple's view at SignedDate: 1 active, 2 expired, 3 billing retry, 4 grace period,
	// 5 revoked; zero where the notification does not tell.
	Status int64 `json:"status"`
	// The verified transaction inside, or nil.
	Transaction *Transaction `json:"transaction"`
	// The verified renewal info inside, or nil.
	Renewal *Renewal `json:"renewal"`
	// The verified app transaction inside, or nil.
	AppTransaction *AppTransaction `json:"appTransaction"`
	// When Apple signed it.
	SignedDate time.Time `json:"signedDate"`
	// Body.
	Data *NotificationData `signed:"data"`
	// Body.
	Summary *NotificationSummary `signed:"summary"`
	// Body.
	ExternalPurchaseToken *NotificationExternalPurchaseToken `signed:"externalPurchaseToken"`
	// Body.
	AppData *NotificationAppData `signed:"appData"`
}
