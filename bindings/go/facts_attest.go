package assay

import "time"

// Extensions is what systems from iOS 27 on say of the running build.
type Extensions struct {
	// Where the build came from: 2 TestFlight, 4 App Store …; nil: not said.
	Category *int64 `json:"category"`
	// "operating-system", "testflight", "development", "app-store", "enterprise",
	// "developer-id", "other"; empty for numbers without a meaning.
	CategoryName BuildCategory `json:"categoryName"`
	// CFBundleVersion, the build number: "1314".
	BundleVersion string `json:"bundleVersion"`
	// Further ones by name; each value's encoding (CBOR) in hex.
	OtherExtensions map[string]string `json:"otherExtensions"`
}

// ReceiptMembers is what is said of an App Attest receipt, alone or inside an
// attestation.
type ReceiptMembers struct {
	// "ATTEST", from the app; "RECEIPT", from Apple after a refresh.
	Type AttestReceiptType `json:"type"`
	// App ID prefix, dot, bundle id.
	AppID string `json:"appId"`
	// "production" or "sandbox".
	Environment AttestEnvironment `json:"environment"`
	// The key that it is about, base64.
	KeyID string `json:"keyId"`
	// Whether it was checked to be about the key that was given.
	Bound bool `json:"bound"`
	// When Apple made it.
	Created time.Time `json:"createdMs"`
	// Earliest refresh; only "RECEIPT".
	NotBefore time.Time `json:"notBeforeMs"`
	// From then on only a new key helps.
	Expires time.Time `json:"expiresMs"`
	// Whether it has ended; true only with `attest.time: stored`.
	Expired bool `json:"expired"`
	// About how many keys this app attested on this device in the last 30 days; only
	// "RECEIPT". 1 to 3 are everyday.
	Risk *int64 `json:"risk"`
	// When a refresh is due; zero: none can be had any more.
	RefreshAt time.Time `json:"refreshAtMs"`
	// Whether it was due at the time of the call.
	RefreshDue bool `json:"refreshDue"`
	// Apple's token in it, base64.
	Token string `json:"token"`
	// The signing certificate.
	Signer *Certificate `json:"signer"`
	// Numbers of the fields that this version does not know.
	UnknownFields []int64 `json:"unknownFields"`
}

// System is the system on the device, as Apple wrote it into the certificate.
// Undocumented: proof of nothing, and absent at times.
type System struct {
	// "27.0.1".
	Version string `json:"version"`
	// "24A446".
	Build string `json:"build"`
	// "iphoneos", "macosx" …; empty before iOS 16.
	Platform string `json:"platform"`
}

// PublicKey is a public key in both of its forms; either goes into VerifyAssertion.
type PublicKey struct {
	// The point 04 || X || Y, 65 bytes.
	X963 []byte `json:"x963"`
	// The same as SubjectPublicKeyInfo, 91 bytes.
	SPKI []byte `json:"spki"`
}

// Challenge is the challenge that the client data carry. Its SHA256 is empty when it
// was not looked for: comparing it is then up to you (`attest.challenge` of the
// configuration).
type Challenge struct {
	// SHA-256 of it, hex.
	SHA256 string `json:"sha256"`
}

// AttestedReceipt is the receipt inside an attestation: verified with it, about its key.
type AttestedReceipt struct {
	ReceiptMembers
	// The receipt itself, to be stored and refreshed.
	Bytes []byte `json:"bytes"`
}

// Attestation is a key in the Secure Enclave of a genuine Apple device, made by your
// app.
//
// Store KeyID, PublicKey, AppID, Environment, the counter 0 and
// Receipt.Bytes, bound to the account; refuse a key that another account has. It says
// neither who the person is nor that the device is free of tampering.
type Attestation struct {
	Facts
	Extensions
	// SHA-256 of the key, standard base64.
	KeyID string `json:"keyId"`
	// The key itself.
	PublicKey PublicKey `json:"publicKey"`
	// App ID prefix, dot, bundle id: the one that matched.
	AppID string `json:"appId"`
	// "production" or "development".
	Environment AttestEnvironment `json:"environment"`
	// What the environment was told by, hex.
	AAGUID string `json:"aaguid"`
	// Of the authenticator data; reported, not judged.
	Flags int64 `json:"flags"`
	// 0: the first value to store.
	Counter int64 `json:"counter"`
	// SHA-256 that the certificate carries, hex.
	Nonce string `json:"nonce"`
	// The system on the device.
	OS System `json:"os"`
	// Access control octets of the key, hex.
	ACL string `json:"acl"`
	// The challenge in the client data.
	Challenge Challenge `json:"challenge"`
	// The key's certificate.
	Leaf *Certificate `json:"leaf"`
	// Nil only with `attest.receipt: ignore`.
	Receipt *AttestedReceipt `json:"receipt"`
	// "not-available": Apple offers none.
	Revocation string `json:"revocation"`
	// What refused nothing but should be looked at.
	Warnings []Warning `json:"warnings"`
}

// Assertion says that the attested key signed these client data, later than the last
// time.
//
// Store Counter with "only if the stored one is still smaller": of two requests with
// one counter exactly one may pass.
type Assertion struct {
	Facts
	Extensions
	// App ID prefix, dot, bundle id: the one that matched.
	AppID string `json:"appId"`
	// The new one, to be stored.
	Counter int64 `json:"counter"`
	// The one that was given.
	PreviousCounter int64 `json:"previousCounter"`
	// Of the authenticator data; reported, not judged.
	Flags int64 `json:"flags"`
	// SHA-256 that was signed, hex.
	Nonce string `json:"nonce"`
	// The challenge in the client data.
	Challenge Challenge `json:"challenge"`
	// What refused nothing but should be looked at.
	Warnings []Warning `json:"warnings"`
}

// AttestReceipt is Apple's statement about an attested key; a refreshed one has a risk
// metric.
type AttestReceipt struct {
	Facts
	ReceiptMembers
}

// DeviceBit is one of the two bits that Apple keeps for a device and a developer team.
type DeviceBit struct {
	// Its meaning by `deviceCheck.bits`; empty: not configured.
	Name string `json:"name"`
	// As Apple has it.
	Value bool `json:"value"`
	// Older than its `resetAfterMonths`: counts as clear.
	Aged bool `json:"aged"`
	// Whether it counts as set.
	Set bool `json:"set"`
}

// DeviceBits are the two bits.
type DeviceBits struct {
	// The first one.
	Bit0 DeviceBit `json:"bit0"`
	// The second one.
	Bit1 DeviceBit `json:"bit1"`
}

// DeviceCheck is what an answer of Apple's DeviceCheck endpoint means.
//
// An answer that says nothing is neither a clean device nor a used one. Hand it to
// AssessRisk as the observation `deviceCheck`; after a refusal it stands in
// the Facts of the error's Document, with outcome "token-refused" or "unavailable".
type DeviceCheck struct {
	Facts
	// "bits", "no-bits" (genuine, never written by this team), "updated", "valid",
	// "token-refused", "unavailable".
	Outcome DeviceOutcome `json:"outcome"`
	// Whose fault a refusal is: "client", "ours", "transient", "unknown".
	Fault Fault `json:"fault"`
	// Last write, "2026-05": no better is to be had.
	Month string `json:"month"`
	// Calendar months since then, never days.
	AgeMonths *int64 `json:"ageMonths"`
	// Only with the outcome "bits".
	Bits *DeviceBits `json:"bits"`
	// "free" or "device-used"; empty where it was not asked for.
	Offer DeviceOffer `json:"offer"`
}

// RiskReason is one rule that fired.
type RiskReason struct {
	// "RSK-16".
	ID string `json:"id"`
	// What this rule alone comes to.
	Verdict Verdict `json:"verdict"`
	// For the operator's log.
	Why string `json:"why"`
}

// ClientError is what to do about the error code that the app saw. A code is the
// client's word.
type ClientError struct {
	// 0 to 4, of com.apple.devicecheck.error.
	Code int64 `json:"code"`
	// "serverUnavailable" …
	Name string `json:"name"`
	// What the app does next.
	App string `json:"app"`
	// What the server makes of it.
	Action string `json:"action"`
	// What a person may read.
	Text string `json:"text"`
}

// Risk is what to do with a request that comes without an assertion, or with one.
//
// Advice with reasons, never an entitlement: a paid request still needs its plan.
type Risk struct {
	Facts
	// "allow", "limited", "step-up" (ask for something stronger), "deny".
	Verdict Verdict `json:"verdict"`
	// The real verdict while `risk.mode` is record, when Verdict is allow.
	Would Verdict `json:"would"`
	// Ids of all rules that fired.
	Reasons []string `json:"reasons"`
	// The same, explained.
	Rules []RiskReason `json:"rules"`
	// Requests per day; only with "limited".
	Allowance *int64 `json:"allowance"`
	// After how long asking again may help; zero: it will not.
	RetryAfter time.Duration `json:"retryAfterMs"`
	// About the `errorCode` observed; nil without one.
	Client *ClientError `json:"client"`
}
