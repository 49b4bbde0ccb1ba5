package assay

import "time"

// EffectiveDate is the date at which the certificates were judged.
type EffectiveDate struct {
	// The date.
	Time time.Time `json:"ms"`
	// Where it is from: "signedDate", "receiptCreationDate", "nested", "now".
	Source string `json:"source"`
}

// Certificate is one certificate of the chain.
type Certificate struct {
	// SHA-256 of its DER, hex.
	SHA256 string `json:"sha256"`
	// Serial number, hex.
	Serial string `json:"serial"`
	// First moment of validity.
	NotBefore time.Time `json:"notBefore"`
	// Last second of validity.
	NotAfter time.Time `json:"notAfter"`
}

// Chain is the certificate chain that signed the evidence.
type Chain struct {
	// The signing certificate.
	Leaf *Certificate `json:"leaf"`
	// Apple's intermediate; nil in the Xcode profile.
	Intermediate *Certificate `json:"intermediate"`
	// The pinned root; nil in the Xcode profile.
	Root *Certificate `json:"root"`
	// Whether the chain was proven by an earlier call.
	Cached bool `json:"cached"`
}

// Keys are the names under which a store keeps the evidence. Empty where a part is
// missing.
type Keys struct {
	// One signed transaction.
	Transaction string `json:"transaction"`
	// What may be paid out once.
	Purchase string `json:"purchase"`
	// One line of renewals.
	Subscription string `json:"subscription"`
	// One notification: retries repeat it.
	Notification string `json:"notification"`
	// One customer's download of the app.
	App string `json:"app"`
}

// Signed is what the facts of every JWS have in common.
type Signed struct {
	Facts
	// "Production", "Sandbox", "Xcode" or "LocalTesting".
	Environment Environment `json:"environment"`
	// "payload", or "transaction-id" when it was derived.
	EnvironmentSource EnvironmentSource `json:"environmentSource"`
	// The app.
	BundleID string `json:"bundleId"`
	// Apple's number of the app.
	AppAppleID int64 `json:"appAppleId"`
	// When the certificates were judged.
	EffectiveDate EffectiveDate `json:"effectiveDate"`
	// Names for stores and replay checks.
	Keys Keys `json:"keys"`
	// The certificates.
	Chain *Chain `json:"chain"`
	// What refused nothing but should be looked at, of this evidence alone.
	Warnings []Warning `json:"warnings"`
}

// AdvancedCommerceDescriptors are the texts shown for an Advanced Commerce product.
type AdvancedCommerceDescriptors struct {
	// At most 45 characters.
	Description string `json:"description"`
	// At most 30 characters.
	DisplayName string `json:"displayName"`
}

// AdvancedCommerceOffer is a discount on one item.
type AdvancedCommerceOffer struct {
	// How many periods, 1 to 12.
	PeriodCount int64 `json:"periodCount"`
	// Thousandths of the currency unit.
	Price *int64 `json:"price"`
	// "P3D", "P1W" … "P1Y".
	Period string `json:"period"`
	// "ACQUISITION", "WIN_BACK" or "RETENTION".
	Reason string `json:"reason"`
}

// AdvancedCommerceRefund is one refund of an item.
type AdvancedCommerceRefund struct {
	// Thousandths of the currency unit.
	RefundAmount *int64 `json:"refundAmount"`
	// When it was refunded.
	RefundDate time.Time `json:"refundDate"`
	// "UNINTENDED_PURCHASE", "LEGAL" …
	RefundReason string `json:"refundReason"`
	// "FULL", "PRORATED" or "CUSTOM".
	RefundType string `json:"refundType"`
}

// AdvancedCommercePriceIncreaseInfo is a price increase of one item.
type AdvancedCommercePriceIncreaseInfo struct {
	// Items whose price it follows.
	DependentSKUs []string `json:"dependentSKUs"`
	// Thousandths of the currency unit.
	Price *int64 `json:"price"`
	// "SCHEDULED", "PENDING" or "ACCEPTED".
	Status string `json:"status"`
}

// AdvancedCommerceTransactionItem is one item that was bought. Decide by SKU; it is
// revoked on its own.
type AdvancedCommerceTransactionItem struct {
	// The item.
	SKU string `json:"SKU"`
	// Text shown.
	Description string `json:"description"`
	// Name shown.
	DisplayName string `json:"displayName"`
	// Discount.
	Offer *AdvancedCommerceOffer `json:"offer"`
	// Thousandths of the currency unit.
	Price *int64 `json:"price"`
	// Refunds of this item.
	Refunds []AdvancedCommerceRefund `json:"refunds"`
	// When this item was revoked.
	RevocationDate time.Time `json:"revocationDate"`
}

// AdvancedCommerceTransactionInfo is what an Advanced Commerce transaction bought.
type AdvancedCommerceTransactionInfo struct {
	// Texts shown.
	Descriptors *AdvancedCommerceDescriptors `json:"descriptors"`
	// Thousandths of the currency unit.
	EstimatedTax *int64 `json:"estimatedTax"`
	// The items.
	Items []AdvancedCommerceTransactionItem `json:"items"`
	// "P1W", "P1M" … "P1Y".
	Period string `json:"period"`
	// UUID of the request.
	RequestReferenceID string `json:"requestReferenceId"`
	// Tax code.
	TaxCode string `json:"taxCode"`
	// Thousandths of the currency unit.
	TaxExclusivePrice *int64 `json:"taxExclusivePrice"`
	// Tax rate as text.
	TaxRate string `json:"taxRate"`
}

// AdvancedCommerceRenewalItem is one item that renews.
type AdvancedCommerceRenewalItem struct {
	// The item.
	SKU string `json:"SKU"`
	// Text shown.
	Description string `json:"description"`
	// Name shown.
	DisplayName string `json:"displayName"`
	// Discount.
	Offer *AdvancedCommerceOffer `json:"offer"`
	// Thousandths of the currency unit.
	Price *int64 `json:"price"`
	// Price increase, if any.
	PriceIncreaseInfo *AdvancedCommercePriceIncreaseInfo `json:"priceIncreaseInfo"`
}

// AdvancedCommerceRenewalInfo is what an Advanced Commerce subscription renews into.
type AdvancedCommerceRenewalInfo struct {
	// Token for changes.
	ConsistencyToken string `json:"consistencyToken"`
	// Texts shown.
	Descriptors *AdvancedCommerceDescriptors `json:"descriptors"`
	// The items.
	Items []AdvancedCommerceRenewalItem `json:"items"`
	// "P1W", "P1M" … "P1Y".
	Period string `json:"period"`
	// UUID of the request.
	RequestReferenceID string `json:"requestReferenceId"`
	// Tax code.
	TaxCode string `json:"taxCode"`
}

// TransactionCommitmentInfo is a commitment over several billing periods.
type TransactionCommitmentInfo struct {
	// This period, 1 to 12.
	BillingPeriodNumber int64 `json:"billingPeriodNumber"`
	// End of all periods.
	CommitmentExpiresDate time.Time `json:"commitmentExpiresDate"`
	// Thousandths of the currency unit.
	CommitmentPrice *int64 `json:"commitmentPrice"`
	// How many in all.
	TotalBillingPeriods int64 `json:"totalBillingPeriods"`
}

// Transaction is a purchase, restore or renewal that Apple signed.
type Transaction struct {
	Signed
	// When Apple signed it.
	SignedDate time.Time `json:"signedDate"`
	// This purchase, restore or renewal.
	TransactionID string `json:"transactionId"`
	// The first purchase of the line.
	OriginalTransactionID string `json:"originalTransactionId"`
	// One paid period, the same on all devices.
	WebOrderLineItemID string `json:"webOrderLineItemId"`
	// What was bought.
	ProductID string `json:"productId"`
	// Group of a subscription.
	SubscriptionGroupIdentifier string `json:"subscriptionGroupIdentifier"`
	// "Auto-Renewable Subscription", "Non-Consumable", "Consumable" or "Non-Renewing
	// Subscription".
	Type ProductType `json:"type"`
	// How many were bought.
	Quantity int64 `json:"quantity"`
	// "PURCHASED", "FAMILY_SHARED" or "ASSIGNED".
	InAppOwnershipType OwnershipType `json:"inAppOwnershipType"`
	// When it was charged.
	PurchaseDate time.Time `json:"purchaseDate"`
	// When the first purchase was charged.
	OriginalPurchaseDate time.Time `json:"originalPurchaseDate"`
	// End of the paid period.
	ExpiresDate time.Time `json:"expiresDate"`
	// When it was refunded, or taken from Family Sharing.
	RevocationDate time.Time `json:"revocationDate"`
	// 1: an issue with the app; 0: another reason.
	RevocationReason *int64 `json:"revocationReason"`
	// "REFUND_FULL", "REFUND_PRORATED" or "FAMILY_REVOKE".
	RevocationType RevocationType `json:"revocationType"`
	// Thousandths of a percent.
	RevocationPercentage *int64 `json:"revocationPercentage"`
	// True: replaced by an upgrade.
	IsUpgraded bool `json:"isUpgraded"`
	// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
	OfferType int64 `json:"offerType"`
	// UUID that the app set, in lower case.
	AppAccountToken string `json:"appAccountToken"`
	// The customer's download of the app.
	AppTransactionID string `json:"appTransactionId"`
	// Id before a migration to Advanced Commerce.
	PreviousOriginalTransactionID string `json:"previousOriginalTransactionId"`
	// Offer id or code.
	OfferIdentifier string `signed:"offerIdentifier"`
	// ISO 8601 duration.
	OfferPeriod string `signed:"offerPeriod"`
	// "FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT" or "ONE_TIME".
	OfferDiscountType OfferDiscountType `signed:"offerDiscountType"`
	// Country, three letters.
	Storefront string `signed:"storefront"`
	// Apple's number of it.
	StorefrontID string `signed:"storefrontId"`
	// "PURCHASE" or "RENEWAL".
	TransactionReason TransactionReason `signed:"transactionReason"`
	// ISO 4217.
	Currency string `signed:"currency"`
	// Thousandths of the currency unit.
	Price *int64 `signed:"price"`
	// Advanced Commerce only.
	AdvancedCommerceInfo *AdvancedCommerceTransactionInfo `signed:"advancedCommerceInfo"`
	// "BILLED_UPFRONT" or "MONTHLY".
	BillingPlanType BillingPlanType `signed:"billingPlanType"`
	// Commitment, if any.
	CommitmentInfo *TransactionCommitmentInfo `signed:"commitmentInfo"`
	// Base64; only from a device.
	DeviceVerification string `signed:"deviceVerification"`
	// UUID; only from a device.
	DeviceVerificationNonce string `signed:"deviceVerificationNonce"`
}

// RenewalCommitmentInfo is what a commitment renews into.
type RenewalCommitmentInfo struct {
	// Product of the next commitment.
	CommitmentAutoRenewProductID string `json:"commitmentAutoRenewProductId"`
	// 0 off, 1 on.
	CommitmentAutoRenewStatus *int64 `json:"commitmentAutoRenewStatus"`
	// "BILLED_UPFRONT" or "MONTHLY".
	CommitmentRenewalBillingPlanType BillingPlanType `json:"commitmentRenewalBillingPlanType"`
	// When it renews.
	CommitmentRenewalDate time.Time `json:"commitmentRenewalDate"`
	// Thousandths of the currency unit.
	CommitmentRenewalPrice *int64 `json:"commitmentRenewalPrice"`
}

// Renewal says how a subscription goes on.
//
// It proves nothing about the app by itself: there is no bundle id in it. Decide with it
// only together with a transaction of the same OriginalTransactionID.
type Renewal struct {
	Signed
	// When Apple signed it.
	SignedDate time.Time `json:"signedDate"`
	// The first purchase of the line.
	OriginalTransactionID string `json:"originalTransactionId"`
	// The product of this period.
	ProductID string `json:"productId"`
	// The product of the next period.
	AutoRenewProductID string `json:"autoRenewProductId"`
	// 0 off, 1 on; not the state of the subscription.
	AutoRenewStatus *int64 `json:"autoRenewStatus"`
	// Apple still tries to charge; only when expired.
	IsInBillingRetryPeriod *bool `json:"isInBillingRetryPeriod"`
	// End of the billing grace period.
	GracePeriodExpiresDate time.Time `json:"gracePeriodExpiresDate"`
	// When the latest purchase ends or renews.
	RenewalDate time.Time `json:"renewalDate"`
	// 1 cancelled, 2 billing error, 3 price increase, 4 product gone, 5 other.
	ExpirationIntent int64 `json:"expirationIntent"`
	// 1 introductory, 2 promotional, 3 offer code, 4 win-back.
	OfferType int64 `json:"offerType"`
	// UUID that the app set, in lower case.
	AppAccountToken string `json:"appAccountToken"`
	// The customer's download of the app.
	AppTransactionID string `json:"appTransactionId"`
	// 0 not answered, 1 consented or only informed.
	PriceIncreaseStatus *int64 `signed:"priceIncreaseStatus"`
	// Offer id or code.
	OfferIdentifier string `signed:"offerIdentifier"`
	// ISO 8601 duration.
	OfferPeriod string `signed:"offerPeriod"`
	// "FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT" or "ONE_TIME".
	OfferDiscountType OfferDiscountType `signed:"offerDiscountType"`
	// Start of the series of renewals.
	RecentSubscriptionStartDate time.Time `signed:"recentSubscriptionStartDate"`
	// ISO 4217.
	Currency string `signed:"currency"`
	// Thousandths of the currency unit.
	RenewalPrice *int64 `signed:"renewalPrice"`
	// Offers to win the customer back, best first.
	EligibleWinBackOfferIDs []string `signed:"eligibleWinBackOfferIds"`
	// Advanced Commerce only.
	AdvancedCommerceInfo *AdvancedCommerceRenewalInfo `signed:"advancedCommerceInfo"`
	// Commitment, if any.
	CommitmentInfo *RenewalCommitmentInfo `signed:"commitmentInfo"`
	// "BILLED_UPFRONT" or "MONTHLY".
	RenewalBillingPlanType string `signed:"renewalBillingPlanType"`
	// Base64; only from a device.
	DeviceVerification string `signed:"deviceVerification"`
	// UUID; only from a device.
	DeviceVerificationNonce string `signed:"deviceVerificationNonce"`
}

// AppTransaction is the customer's download of the app.
type AppTransaction struct {
	Signed
	// When it was signed.
	ReceiptCreationDate time.Time `json:"receiptCreationDate"`
	// The environment, as signed.
	ReceiptType string `json:"receiptType"`
	// First download.
	OriginalPurchaseDate time.Time `json:"originalPurchaseDate"`
	// One per Apple Account and app.
	AppTransactionID string `json:"appTransactionId"`
	// Version that asked.
	ApplicationVersion string `signed:"applicationVersion"`
	// Apple's number of the version.
	VersionExternalIdentifier int64 `signed:"versionExternalIdentifier"`
	// Version first bought; a dummy in Sandbox.
	OriginalApplicationVersion string `signed:"originalApplicationVersion"`
	// Base64.
	DeviceVerification string `signed:"deviceVerification"`
	// UUID.
	DeviceVerificationNonce string `signed:"deviceVerificationNonce"`
	// When it was pre-ordered.
	PreorderDate time.Time `signed:"preorderDate"`
	// "iOS", "macOS", "tvOS" or "visionOS".
	OriginalPlatform Platform `signed:"originalPlatform"`
	// Xcode only.
	RequestDate time.Time `signed:"requestDate"`
}

// RealtimeRequest is Apple's question which retention message to show; answer in about
// 700 ms.
type RealtimeRequest struct {
	Signed
	// When Apple signed it.
	SignedDate time.Time `json:"signedDate"`
	// The first purchase of the line.
	OriginalTransactionID string `json:"originalTransactionId"`
	// The subscription.
	ProductID string `json:"productId"`
	// UUID to repeat in the answer.
	RequestIdentifier string `json:"requestIdentifier"`
	// The customer's locale.
	UserLocale string `signed:"userLocale"`
}
