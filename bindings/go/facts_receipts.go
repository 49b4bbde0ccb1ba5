package assay

import (
	"encoding/json"
	"time"
)

// Transport is how the evidence was packed when it came.
type Transport struct {
	// "raw", "base64" or "base64-twice".
	Form string `json:"form"`
	// How many times it was base64: 0, 1 or 2.
	Levels int64 `json:"levels"`
	// Whether spaces had to be read as +: a form field decoded twice.
	SpaceAsPlus bool `json:"spaceAsPlus"`
}

// Intermediate is the certificate of Apple's that signed the leaf.
type Intermediate struct {
	Certificate
	// "shipped", "configured" or "embedded".
	Source string `json:"source"`
}

// ReceiptChain is the certificate path that signed the receipt.
type ReceiptChain struct {
	// The signing certificate.
	Leaf *Certificate `json:"leaf"`
	// Apple's intermediate; nil in the Xcode profile.
	Intermediate *Intermediate `json:"intermediate"`
	// The pinned root; nil in the Xcode profile.
	Root *Certificate `json:"root"`
	// Whether the path was proven by an earlier call.
	Cached bool `json:"cached"`
}

// Receipt is what the facts of both kinds of receipt, and of an answer, have in common.
type Receipt struct {
	Facts
	// "Production", "Sandbox" or "Xcode".
	Environment Environment `json:"environment"`
	// The app.
	BundleID string `json:"bundleId"`
}

// TransactionReceipt is one purchase, restore or renewal, as apps of iOS 3 to 6 sent it.
//
// It states the past: it can show neither a refund nor whether the subscription renewed.
// It is not bound to a device or an account: whoever has the text can send it. Pay out
// once per Keys.Purchase.
type TransactionReceipt struct {
	Receipt
	// Of the signature: 2 (until 2016) or 3.
	Version int64 `json:"version"`
	// What was bought.
	ProductID string `json:"productId"`
	// How many were bought.
	Quantity int64 `json:"quantity"`
	// This purchase, restore or renewal.
	TransactionID string `json:"transactionId"`
	// The first purchase of the line.
	OriginalTransactionID string `json:"originalTransactionId"`
	// One paid period, the same on all devices.
	WebOrderLineItemID string `json:"webOrderLineItemId"`
	// Purchase, restore, start of the period.
	PurchaseDate time.Time `json:"purchaseDate"`
	// The first purchase.
	OriginalPurchaseDate time.Time `json:"originalPurchaseDate"`
	// End of the paid period.
	ExpiresDate time.Time `json:"expiresDate"`
	// A free trial.
	IsTrialPeriod *bool `json:"isTrialPeriod"`
	// An introductory price.
	IsInIntroOfferPeriod *bool `json:"isInIntroOfferPeriod"`
	// Version of the app, free text.
	BundleVersion string `json:"bundleVersion"`
	// Apple's number of the product.
	ItemID string `json:"itemId"`
	// Apple's number of the app.
	AppItemID string `json:"appItemId"`
	// Apple's number of the app's version.
	VersionExternalIdentifier string `json:"versionExternalIdentifier"`
	// "transaction-id", which is signed; empty where that id tells nothing.
	EnvironmentSource EnvironmentSource `json:"environmentSource"`
	// The unsigned outer keys contradict the signed transaction id.
	OuterAltered bool `json:"outerAltered"`
	// Signed by a certificate that is younger than the purchase.
	SignedAfterPurchase bool `json:"signedAfterPurchase"`
	// Version 2: rests on 1,024-bit RSA.
	WeakKey bool `json:"weakKey"`
	// Device id; only with `receipts.deviceIds: report`.
	UniqueIdentifier string `json:"uniqueIdentifier"`
	// Vendor id; only with `receipts.deviceIds: report`.
	UniqueVendorIdentifier string `json:"uniqueVendorIdentifier"`
	// Names for stores and replay checks.
	Keys Keys `json:"keys"`
	// The certificates.
	Chain *ReceiptChain `json:"chain"`
	// How it was packed.
	Transport *Transport `json:"transport"`
}

// AppReceiptPurchase is one purchase in an app receipt.
type AppReceiptPurchase struct {
	// What was bought.
	ProductID string `json:"productId"`
	// This purchase, restore or renewal.
	TransactionID string `json:"transactionId"`
	// The first purchase of the line.
	OriginalTransactionID string `json:"originalTransactionId"`
	// One paid period, the same on all devices.
	WebOrderLineItemID string `json:"webOrderLineItemId"`
	// How many were bought.
	Quantity int64 `json:"quantity"`
	// "Auto-Renewable Subscription", "Non-Consumable", "Consumable", "Non-Renewing
	// Subscription" or "Free Subscription"; empty from Xcode.
	Type ProductType `json:"type"`
	// Purchase, restore, start of the period.
	PurchaseDate time.Time `json:"purchaseDate"`
	// The first purchase.
	OriginalPurchaseDate time.Time `json:"originalPurchaseDate"`
	// End of the paid period.
	ExpiresDate time.Time `json:"expiresDate"`
	// When it was refunded.
	CancellationDate time.Time `json:"cancellationDate"`
	// 1: an issue with the app; 0: another reason.
	CancellationReason *int64 `json:"cancellationReason"`
	// A free trial.
	IsTrialPeriod *bool `json:"isTrialPeriod"`
	// An introductory price.
	IsInIntroOfferPeriod *bool `json:"isInIntroOfferPeriod"`
	// Promotional offer.
	PromotionalOfferID string `json:"promotionalOfferId"`
	// Whether the catalogue has the product.
	Known bool `json:"known"`
	// That of the receipt.
	Environment Environment `json:"environment"`
	// The transaction id looks like one of another environment.
	IDConflict bool `json:"idConflict"`
	// Names for stores and replay checks.
	Keys Keys `json:"keys"`
}

// KeptAttribute is an attribute of the receipt that has no member of its own.
type KeptAttribute struct {
	// Its number.
	Type int64 `json:"type"`
	// Its value, hex.
	Hex string `json:"hex"`
}

// AppReceipt lists all purchases of an app on one device, as of CreationDate.
//
// Consumables vanish from it once they are finished, so an empty list proves nothing.
// Unless DeviceBound, the same text can come from any device.
type AppReceipt struct {
	Receipt
	// "Production", "ProductionSandbox", "ProductionVPP", "ProductionVPPSandbox" or
	// "Xcode".
	Type string `json:"type"`
	// Version of the app.
	ApplicationVersion string `json:"applicationVersion"`
	// Version first bought; a dummy in Sandbox.
	OriginalApplicationVersion string `json:"originalApplicationVersion"`
	// When it was made and signed.
	CreationDate time.Time `json:"creationDate"`
	// As of when it speaks.
	AsOf time.Time `json:"asOf"`
	// First download.
	OriginalPurchaseDate time.Time `json:"originalPurchaseDate"`
	// End of a volume purchase; zero beyond 2100 (see Raw).
	ExpirationDate time.Time `json:"expirationDate"`
	// Apple's number of the app.
	AppAppleID int64 `json:"appAppleId"`
	// Apple's number of the download.
	DownloadID string `json:"downloadId"`
	// Apple's number of the app's version.
	VersionExternalIdentifier int64 `json:"versionExternalIdentifier"`
	// Whether it was checked to belong to the device given.
	DeviceBound bool `json:"deviceBound"`
	// In the order of the receipt, which means nothing.
	Purchases []AppReceiptPurchase `json:"purchases"`
	// Attributes that are known but not understood.
	KeptAttributes []KeptAttribute `json:"keptAttributes"`
	// How many more there were.
	UnknownAttributes int64 `json:"unknownAttributes"`
	// "sha1" or "sha256".
	Digest string `json:"digest"`
	// The certificates.
	Chain *ReceiptChain `json:"chain"`
	// How it was packed.
	Transport *Transport `json:"transport"`
}

// AppleTransaction is one transaction of an answer. Apple's TLS connection vouches for
// it, alone.
type AppleTransaction struct {
	// What was bought.
	ProductID string `json:"productId"`
	// This purchase, restore or renewal.
	TransactionID string `json:"transactionId"`
	// The first purchase of the line.
	OriginalTransactionID string `json:"originalTransactionId"`
	// One paid period, the same on all devices.
	WebOrderLineItemID string `json:"webOrderLineItemId"`
	// How many were bought.
	Quantity int64 `json:"quantity"`
	// Purchase, restore, start of the period.
	PurchaseDate time.Time `json:"purchaseDate"`
	// The first purchase.
	OriginalPurchaseDate time.Time `json:"originalPurchaseDate"`
	// End of the paid period.
	ExpiresDate time.Time `json:"expiresDate"`
	// When it was refunded.
	CancellationDate time.Time `json:"cancellationDate"`
	// 1: an issue with the app; 0: another reason.
	CancellationReason *int64 `json:"cancellationReason"`
	// A free trial.
	IsTrialPeriod *bool `json:"isTrialPeriod"`
	// An introductory price.
	IsInIntroOfferPeriod *bool `json:"isInIntroOfferPeriod"`
	// Promotional offer.
	PromotionalOfferID string `json:"promotionalOfferId"`
	// Offer code.
	OfferCodeRefName string `json:"offerCodeRefName"`
	// "PURCHASED" or "FAMILY_SHARED".
	InAppOwnershipType OwnershipType `json:"inAppOwnershipType"`
	// True: replaced by an upgrade.
	IsUpgraded bool `json:"isUpgraded"`
	// Group of a subscription.
	SubscriptionGroupIdentifier string `json:"subscriptionGroupIdentifier"`
	// UUID that the app set.
	AppAccountToken string `json:"appAccountToken"`
	// Whether the catalogue has the product.
	Known bool `json:"known"`
	// Names for stores and replay checks.
	Keys Keys `json:"keys"`
	// The app; iOS 6 style.
	Bid string `json:"bid"`
	// Version of the app; iOS 6 style.
	Bvrs string `json:"bvrs"`
	// Apple's number of the product; iOS 6 style.
	ItemID string `json:"itemId"`
	// Apple's number of the app; iOS 6 style.
	AppItemID int64 `json:"appItemId"`
	// Apple's number of the version; iOS 6 style.
	VersionExternalIdentifier int64 `json:"versionExternalIdentifier"`
	// Device id; only with `receipts.deviceIds: report`.
	UniqueIdentifier string `json:"uniqueIdentifier"`
	// Vendor id; only with `receipts.deviceIds: report`.
	UniqueVendorIdentifier string `json:"uniqueVendorIdentifier"`
	// Members that this version does not know, as they came.
	Unknown json.RawMessage `json:"unknown"`
}

// AppleRenewal is what an answer says about the renewal of one line.
type AppleRenewal struct {
	// The first purchase of the line.
	OriginalTransactionID string `json:"originalTransactionId"`
	// The product of this period.
	ProductID string `json:"productId"`
	// The product of the next period.
	AutoRenewProductID string `json:"autoRenewProductId"`
	// 0 off, 1 on; not the state of the subscription.
	AutoRenewStatus *int64 `json:"autoRenewStatus"`
	// Apple still tries to charge.
	IsInBillingRetryPeriod *bool `json:"isInBillingRetryPeriod"`
	// End of the billing grace period.
	GracePeriodExpiresDate time.Time `json:"gracePeriodExpiresDate"`
	// 1 cancelled, 2 billing error, 3 price increase, 4 product gone, 5
	// unknown.
	ExpirationIntent int64 `json:"expirationIntent"`
	// 0 asked, no answer; 1 agreed.
	PriceConsentStatus *int64 `json:"priceConsentStatus"`
	// 0 asked, no answer; 1 agreed or only informed.
	PriceIncreaseStatus *int64 `json:"priceIncreaseStatus"`
	// Offer code.
	OfferCodeRefName string `json:"offerCodeRefName"`
	// Promotional offer.
	PromotionalOfferID string `json:"promotionalOfferId"`
	// Members that this version does not know, as they came.
	Unknown json.RawMessage `json:"unknown"`
}

// LatestReceipt is the latest_receipt of an answer, which is signed, verified offline in
// the call.
type LatestReceipt struct {
	// Store the text only when this is true.
	Verified bool `json:"verified"`
	// Status of its verification: "ok", or why not.
	Status string `json:"status"`
	// SHA-256 of its text, hex.
	SHA256 string `json:"sha256"`
}

// VerifyReceiptAnswer is what Apple's verifyReceipt endpoint answered: facts of class
// "apple-answer".
//
// Nothing of it is signed but `latest_receipt`: it is worth as much as the TLS
// connection that it came over.
type VerifyReceiptAnswer struct {
	Receipt
	// 0; or 21006: valid, but ended.
	AppleStatus int64 `json:"appleStatus"`
	// "ios6" (about a transaction receipt) or "ios7" (about an app receipt).
	Style string `json:"style"`
	// "answer", "endpoint", "receipt-type" or "transaction-id".
	EnvironmentSource EnvironmentSource `json:"environmentSource"`
	// As of when it speaks.
	AsOf time.Time `json:"asOf"`
	// How far Apple's clock is ahead; zero within five minutes.
	ClockSkew time.Duration `json:"clockSkew"`
	// Apple's clock at the answer.
	RequestDate time.Time `json:"requestDate"`
	// 1: an issue with the app; 0: another reason; iOS 6 style.
	CancellationReason *int64 `json:"cancellationReason"`
	// "Production", "ProductionSandbox" …
	ReceiptType string `json:"receiptType"`
	// Apple's number of the app.
	AdamID int64 `json:"adamId"`
	// The same number.
	AppItemID int64 `json:"appItemId"`
	// Version of the app.
	ApplicationVersion string `json:"applicationVersion"`
	// Version first bought; a dummy in Sandbox.
	OriginalApplicationVersion string `json:"originalApplicationVersion"`
	// Apple's number of the download.
	DownloadID string `json:"downloadId"`
	// Apple's number of the version.
	VersionExternalIdentifier int64 `json:"versionExternalIdentifier"`
	// Of the receipt sent.
	ReceiptCreationDate time.Time `json:"receiptCreationDate"`
	// First download.
	OriginalPurchaseDate time.Time `json:"originalPurchaseDate"`
	// End of a volume purchase.
	ExpirationDate time.Time `json:"expirationDate"`
	// When it was pre-ordered.
	PreorderDate time.Time `json:"preorderDate"`
	// Each once, ordered by the end of the period.
	Transactions []AppleTransaction `json:"transactions"`
	// Renewal facts, one a line.
	Renewals []AppleRenewal `json:"renewals"`
	// The newest receipt, if the answer has one.
	LatestReceipt *LatestReceipt `json:"latestReceipt"`
	// "apple-answer".
	Evidence string `json:"evidence"`
	// Members that this version does not know, as they came.
	Unknown json.RawMessage `json:"unknown"`
	// The same of the receipt inside the answer.
	UnknownInReceipt json.RawMessage `json:"unknownInReceipt"`
}

// Claims is what an untrusted blob says of itself. Claims, not facts: anybody can write
// them.
type Claims struct {
	// The app.
	BundleID string `json:"bundleId"`
	// What was bought.
	ProductID string `json:"productId"`
	// The purchase.
	TransactionID string `json:"transactionId"`
	// The first purchase of the line.
	OriginalTransactionID string `json:"originalTransactionId"`
	// One paid period.
	WebOrderLineItemID string `json:"webOrderLineItemId"`
	// When it was bought.
	PurchaseDate time.Time `json:"purchaseDate"`
	// "Production", "Sandbox" …
	Environment Environment `json:"environment"`
	// To look up before verifying: for each purchase its transaction key, and its purchase
	// key when that is another one.
	Keys []string `json:"keys"`
	// A JWS alone: who is said to have made it.
	Issuer string `json:"issuer"`
	// An App Attest receipt alone: the whole App ID.
	AppID string `json:"appId"`
	// An app receipt: "ProductionSandbox" …; App Attest: "ATTEST" or "RECEIPT".
	Type string `json:"type"`
	// Of an app or App Attest receipt.
	CreationDate time.Time `json:"creationDate"`
	// An app receipt: at most 64 of them.
	ProductIDs []string `json:"productIds"`
	// An app receipt: how many it lists.
	Purchases int64 `json:"purchases"`
	// An app receipt: whether Keys has every purchase of it.
	Complete bool `json:"complete"`
}

// Triage is the library's finding about a blob that nobody verified.
//
// WorthVerifying says whether to go on; otherwise Disposition says what to tell the
// client, and Status why. A finding is never evidence.
type Triage struct {
	Facts
	// "candidate", "unconfirmed", "jws", "foreign", "cracker", "malformed",
	// "unsupported".
	Category Category `json:"category"`
	// "transaction-receipt", "app-receipt", "attest-receipt", "jws", "cracker",
	// "attestation", "assertion", "xml-plist", "binary-plist", "json", "unknown".
	Form Form `json:"form"`
	// "drop": the client may delete its copy; "keep": it keeps and retries;
	// "resend": it sends its stored copy again.
	Disposition Disposition `json:"disposition"`
	// "lookup": look up `claimed.keys`, then verify; "verify": there is no key; "none".
	Next NextStep `json:"next"`
	// What a JWS looks like: "transaction", "notification" …; empty for others.
	Kind Kind `json:"kind"`
	// Suspicions, never verdicts: "info-compact", "missing:bid" …
	Traits []string `json:"traits"`
	// How it was packed.
	Transport *Transport `json:"transport"`
	// What the blob says of itself, nil where nothing could be read. Never act on it:
	// verify first.
	Claimed *Claims
}
