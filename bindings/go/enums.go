package assay

// The types below hold values as Apple, or the library, writes them. A value that
// this version does not know is kept as it is: compare with the constants you
// handle, and take everything else as unknown.

// An Environment is where a purchase was made.
type Environment string

// Environments.
const (
	Production   Environment = "Production"
	Sandbox      Environment = "Sandbox"
	Xcode        Environment = "Xcode"
	LocalTesting Environment = "LocalTesting"
)

// An EnvironmentSource is what the environment was told by.
type EnvironmentSource string

// Sources of the environment.
const (
	FromPayload       EnvironmentSource = "payload"
	FromTransactionID EnvironmentSource = "transaction-id"
	FromAnswer        EnvironmentSource = "answer"
	FromReceiptType   EnvironmentSource = "receipt-type"
	FromEndpoint      EnvironmentSource = "endpoint"
)

// A ProductType is Apple's type of a product.
type ProductType string

// Types of products.
const (
	AutoRenewable    ProductType = "Auto-Renewable Subscription"
	NonRenewing      ProductType = "Non-Renewing Subscription"
	NonConsumable    ProductType = "Non-Consumable"
	Consumable       ProductType = "Consumable"
	FreeSubscription ProductType = "Free Subscription"
)

// An OwnershipType is how the customer came to own a purchase.
type OwnershipType string

// Ways of owning.
const (
	Purchased    OwnershipType = "PURCHASED"
	FamilyShared OwnershipType = "FAMILY_SHARED"
	Assigned     OwnershipType = "ASSIGNED"
)

// A RevocationType is how a purchase was taken back.
type RevocationType string

// Ways of revoking.
const (
	RefundFull     RevocationType = "REFUND_FULL"
	RefundProrated RevocationType = "REFUND_PRORATED"
	FamilyRevoke   RevocationType = "FAMILY_REVOKE"
)

// An OfferDiscountType is how an offer is paid.
type OfferDiscountType string

// Discounts.
const (
	FreeTrial  OfferDiscountType = "FREE_TRIAL"
	PayAsYouGo OfferDiscountType = "PAY_AS_YOU_GO"
	PayUpFront OfferDiscountType = "PAY_UP_FRONT"
	OneTime    OfferDiscountType = "ONE_TIME"
)

// A TransactionReason is why a transaction came about.
type TransactionReason string

// Reasons of transactions.
const (
	ReasonPurchase TransactionReason = "PURCHASE"
	ReasonRenewal  TransactionReason = "RENEWAL"
)

// A BillingPlanType is how a commitment is billed.
type BillingPlanType string

// Billing plans.
const (
	BilledUpfront BillingPlanType = "BILLED_UPFRONT"
	BilledMonthly BillingPlanType = "MONTHLY"
)

// A Platform is where an app was first bought.
type Platform string

// Platforms.
const (
	IOS      Platform = "iOS"
	MacOS    Platform = "macOS"
	TvOS     Platform = "tvOS"
	VisionOS Platform = "visionOS"
)

// A NotificationType says why a notification was sent.
type NotificationType string

// Types of notifications.
const (
	TypeSubscribed             NotificationType = "SUBSCRIBED"
	TypeDidRenew               NotificationType = "DID_RENEW"
	TypeDidFailToRenew         NotificationType = "DID_FAIL_TO_RENEW"
	TypeGracePeriodExpired     NotificationType = "GRACE_PERIOD_EXPIRED"
	TypeExpired                NotificationType = "EXPIRED"
	TypeDidChangeRenewalPref   NotificationType = "DID_CHANGE_RENEWAL_PREF"
	TypeDidChangeRenewalStatus NotificationType = "DID_CHANGE_RENEWAL_STATUS"
	TypeOfferRedeemed          NotificationType = "OFFER_REDEEMED"
	TypePriceIncrease          NotificationType = "PRICE_INCREASE"
	TypeRefund                 NotificationType = "REFUND"
	TypeRefundDeclined         NotificationType = "REFUND_DECLINED"
	TypeRefundReversed         NotificationType = "REFUND_REVERSED"
	TypeConsumptionRequest     NotificationType = "CONSUMPTION_REQUEST"
	TypeRevoke                 NotificationType = "REVOKE"
	TypeRenewalExtended        NotificationType = "RENEWAL_EXTENDED"
	TypeRenewalExtension       NotificationType = "RENEWAL_EXTENSION"
	TypeOneTimeCharge          NotificationType = "ONE_TIME_CHARGE"
	TypeExternalPurchaseToken  NotificationType = "EXTERNAL_PURCHASE_TOKEN"
	TypeRescindConsent         NotificationType = "RESCIND_CONSENT"
	TypeMetadataUpdate         NotificationType = "METADATA_UPDATE"
	TypeMigration              NotificationType = "MIGRATION"
	TypeMigrate                NotificationType = "MIGRATE"
	TypePriceChange            NotificationType = "PRICE_CHANGE"
	TypeTest                   NotificationType = "TEST"
)

// A Subtype says more about the type of a notification.
type Subtype string

// Subtypes of notifications.
const (
	SubtypeInitialBuy          Subtype = "INITIAL_BUY"
	SubtypeResubscribe         Subtype = "RESUBSCRIBE"
	SubtypeUpgrade             Subtype = "UPGRADE"
	SubtypeDowngrade           Subtype = "DOWNGRADE"
	SubtypeAutoRenewEnabled    Subtype = "AUTO_RENEW_ENABLED"
	SubtypeAutoRenewDisabled   Subtype = "AUTO_RENEW_DISABLED"
	SubtypeVoluntary           Subtype = "VOLUNTARY"
	SubtypeBillingRetry        Subtype = "BILLING_RETRY"
	SubtypePriceIncrease       Subtype = "PRICE_INCREASE"
	SubtypeProductNotForSale   Subtype = "PRODUCT_NOT_FOR_SALE"
	SubtypeGracePeriod         Subtype = "GRACE_PERIOD"
	SubtypeBillingRecovery     Subtype = "BILLING_RECOVERY"
	SubtypePending             Subtype = "PENDING"
	SubtypeAccepted            Subtype = "ACCEPTED"
	SubtypeSummary             Subtype = "SUMMARY"
	SubtypeFailure             Subtype = "FAILURE"
	SubtypeUnreported          Subtype = "UNREPORTED"
	SubtypeCreated             Subtype = "CREATED"
	SubtypeActiveTokenReminder Subtype = "ACTIVE_TOKEN_REMINDER"
)

// A ConsumptionRequestReason is why a customer asks for a refund.
type ConsumptionRequestReason string

// Reasons for a refund.
const (
	ConsumptionUnintendedPurchase      ConsumptionRequestReason = "UNINTENDED_PURCHASE"
	ConsumptionFulfillmentIssue        ConsumptionRequestReason = "FULFILLMENT_ISSUE"
	ConsumptionUnsatisfiedWithPurchase ConsumptionRequestReason = "UNSATISFIED_WITH_PURCHASE"
	ConsumptionLegal                   ConsumptionRequestReason = "LEGAL"
	ConsumptionOther                   ConsumptionRequestReason = "OTHER"
)

// A NotificationBody is the member of a notification that has its content.
type NotificationBody string

// Bodies.
const (
	BodyData                  NotificationBody = "data"
	BodySummary               NotificationBody = "summary"
	BodyExternalPurchaseToken NotificationBody = "externalPurchaseToken"
	BodyAppData               NotificationBody = "appData"
)

// An Effect is what a notification is about for entitlements.
type Effect string

// Effects.
const (
	EffectGrant     Effect = "grant"
	EffectKeep      Effect = "keep"
	EffectEnd       Effect = "end"
	EffectRecompute Effect = "recompute"
	EffectNone      Effect = "none"
)

// An ExternalPurchaseTokenType is what a token for external purchases is for.
type ExternalPurchaseTokenType string

// Types of tokens.
const (
	TokenServices    ExternalPurchaseTokenType = "SERVICES"
	TokenAcquisition ExternalPurchaseTokenType = "ACQUISITION"
)

// A State says why a decision is as it is.
type State string

// States of a decision.
const (
	StateActive         State = "active"
	StateGrace          State = "grace"
	StateBillingRetry   State = "billing-retry"
	StateExpired        State = "expired"
	StateRefunded       State = "refunded"
	StateRevokedFamily  State = "revoked-family"
	StateSuperseded     State = "superseded"
	StateNotStarted     State = "not-started"
	StateDeniedByPolicy State = "denied-by-policy"
	StateStale          State = "stale"
	StateOwned          State = "owned"
	StateOnce           State = "once"
	StateNone           State = "none"
)

// A Category is what triage sorts blobs into.
type Category string

// Categories.
const (
	CategoryCandidate   Category = "candidate"
	CategoryUnconfirmed Category = "unconfirmed"
	CategoryJWS         Category = "jws"
	CategoryForeign     Category = "foreign"
	CategoryCracker     Category = "cracker"
	CategoryMalformed   Category = "malformed"
	CategoryUnsupported Category = "unsupported"
)

// A Form is what a blob looks like.
type Form string

// Forms.
const (
	FormTransactionReceipt Form = "transaction-receipt"
	FormAppReceipt         Form = "app-receipt"
	FormAttestReceipt      Form = "attest-receipt"
	FormJWS                Form = "jws"
	FormCracker            Form = "cracker"
	FormAttestation        Form = "attestation"
	FormAssertion          Form = "assertion"
	FormXMLPlist           Form = "xml-plist"
	FormBinaryPlist        Form = "binary-plist"
	FormJSON               Form = "json"
	FormUnknown            Form = "unknown"
)

// A Disposition is what the client does with its copy of a blob.
type Disposition string

// Dispositions.
const (
	DispositionDrop   Disposition = "drop"
	DispositionKeep   Disposition = "keep"
	DispositionResend Disposition = "resend"
)

// A NextStep is what comes after triage.
type NextStep string

// Next steps.
const (
	NextLookup NextStep = "lookup"
	NextVerify NextStep = "verify"
	NextNone   NextStep = "none"
)

// An AttestEnvironment is the environment of App Attest.
type AttestEnvironment string

// Environments of App Attest; receipts say sandbox for development.
const (
	AttestProduction  AttestEnvironment = "production"
	AttestDevelopment AttestEnvironment = "development"
	AttestSandbox     AttestEnvironment = "sandbox"
)

// An AttestReceiptType is where an App Attest receipt came from.
type AttestReceiptType string

// Types of App Attest receipts.
const (
	ReceiptFromApp   AttestReceiptType = "ATTEST"
	ReceiptFromApple AttestReceiptType = "RECEIPT"
)

// A BuildCategory is where a build of an app came from.
type BuildCategory string

// Categories of builds.
const (
	BuildOperatingSystem BuildCategory = "operating-system"
	BuildTestFlight      BuildCategory = "testflight"
	BuildDevelopment     BuildCategory = "development"
	BuildAppStore        BuildCategory = "app-store"
	BuildEnterprise      BuildCategory = "enterprise"
	BuildDeveloperID     BuildCategory = "developer-id"
	BuildOther           BuildCategory = "other"
)

// A DeviceOutcome is what an answer of DeviceCheck means.
type DeviceOutcome string

// Outcomes.
const (
	DeviceBitsKnown    DeviceOutcome = "bits"
	DeviceNoBits       DeviceOutcome = "no-bits"
	DeviceUpdated      DeviceOutcome = "updated"
	DeviceValid        DeviceOutcome = "valid"
	DeviceTokenRefused DeviceOutcome = "token-refused"
	DeviceUnavailable  DeviceOutcome = "unavailable"
)

// A Fault is whose fault a refusal of DeviceCheck is.
type Fault string

// Faults.
const (
	FaultClient    Fault = "client"
	FaultOurs      Fault = "ours"
	FaultTransient Fault = "transient"
	FaultUnknown   Fault = "unknown"
)

// A DeviceOffer says whether an offer was used on a device.
type DeviceOffer string

// Offers.
const (
	OfferFree       DeviceOffer = "free"
	OfferDeviceUsed DeviceOffer = "device-used"
)

// A Verdict is what to do with a request.
type Verdict string

// Verdicts.
const (
	VerdictAllow   Verdict = "allow"
	VerdictLimited Verdict = "limited"
	VerdictStepUp  Verdict = "step-up"
	VerdictDeny    Verdict = "deny"
)
