package assay

import (
	"context"
	"time"
)

// A Signer signs tokens, client secrets and offers with the keys of the configuration.
// Verifier.Signer makes one.
type Signer struct{ verifier *Verifier }

// Signer returns the object that signs with the configured keys.
func (v *Verifier) Signer() *Signer { return &Signer{v} }

// SignAPIToken signs a token for the App Store Server API, valid for five minutes: make one
// for each request. bundleID may be empty if the configuration has one app.
//
// Needs the block `appStoreServerApi` (ErrConfig).
func (s *Signer) SignAPIToken(
	ctx context.Context, bundleID string, options ...Option,
) (*SignedToken, error) {
	request := given{"operation": "sign-api-token"}.text("bundleId", bundleID)
	document, err := s.verifier.atOnce(ctx, request, options)
	return verified[SignedToken](document, err, "exchange")
}

// SignDeviceCheckToken signs a token for Apple's DeviceCheck and App Attest servers, valid for
// 20 minutes. Needs the block `deviceCheck` with its key (ErrConfig).
func (s *Signer) SignDeviceCheckToken(
	ctx context.Context, options ...Option,
) (*SignedToken, error) {
	document, err := s.verifier.atOnce(ctx, given{"operation": "sign-device-check-token"}, options)
	return verified[SignedToken](document, err, "exchange")
}

// SignAppleClientSecret signs the client secret of Sign in with Apple. clientID may be empty
// if the configuration has one; a life of 0 means five minutes. Needs the block `appleId`.
func (s *Signer) SignAppleClientSecret(
	ctx context.Context, clientID string, life time.Duration, options ...Option,
) (*ClientSecret, error) {
	request := given{"operation": "sign-apple-client-secret"}.text("clientId", clientID).
		milliseconds("ttlMs", life)
	document, err := s.verifier.atOnce(ctx, request, options)
	return verified[ClientSecret](document, err, "exchange")
}

// A SignPromotionalOfferRequest is the offer to sign. Never let a client choose its members.
type SignPromotionalOfferRequest struct {
	// BundleID may be empty if the configuration has one app.
	BundleID  string
	ProductID string
	OfferID   string
	// TransactionID is any of the customer's; without it any customer can use the offer.
	TransactionID string
	// Nonce is a UUID; a new one is made if empty.
	Nonce string
}

// SignPromotionalOffer signs a promotional offer as a JWS. Needs the block
// `appStoreServerApi`; the error is ErrMisuse for ids of a wrong form.
func (s *Signer) SignPromotionalOffer(
	ctx context.Context, offer SignPromotionalOfferRequest, options ...Option,
) (*SignedOffer, error) {
	request := given{
		"operation": "sign-promotional-offer", "productId": offer.ProductID,
		"offerIdentifier": offer.OfferID,
	}.text("bundleId", offer.BundleID).text("transactionId", offer.TransactionID).
		text("nonce", offer.Nonce)
	document, err := s.verifier.atOnce(ctx, request, options)
	return verified[SignedOffer](document, err, "exchange")
}

// A SignIntroductoryOfferEligibilityRequest is whether a customer may have the introductory
// offer.
type SignIntroductoryOfferEligibilityRequest struct {
	BundleID      string
	ProductID     string
	Allowed       bool
	TransactionID string
	Nonce         string
}

// SignIntroductoryOfferEligibility signs whether a customer may have the introductory offer,
// as a JWS for the app. It overrides the App Store's own decision.
func (s *Signer) SignIntroductoryOfferEligibility(
	ctx context.Context, offer SignIntroductoryOfferEligibilityRequest, options ...Option,
) (*SignedOffer, error) {
	request := given{
		"operation": "sign-introductory-offer-eligibility", "productId": offer.ProductID,
		"allowIntroductoryOffer": offer.Allowed, "transactionId": offer.TransactionID,
	}.text("bundleId", offer.BundleID).text("nonce", offer.Nonce)
	document, err := s.verifier.atOnce(ctx, request, options)
	return verified[SignedOffer](document, err, "exchange")
}

// A SignPromotionalOfferV1Request is a promotional offer of the original StoreKit API.
type SignPromotionalOfferV1Request struct {
	BundleID  string
	ProductID string
	OfferID   string
	// ApplicationUsername is ASCII: the appAccountToken, or empty.
	ApplicationUsername string
	Nonce               string
	// Timestamp is when the offer is signed; zero means now.
	Timestamp time.Time
}

// SignPromotionalOfferV1 signs an offer for the original StoreKit API: the app must pass
// exactly the four returned values.
func (s *Signer) SignPromotionalOfferV1(
	ctx context.Context, offer SignPromotionalOfferV1Request, options ...Option,
) (*SignedOfferV1, error) {
	request := given{
		"operation": "sign-promotional-offer-v1", "productId": offer.ProductID,
		"offerId": offer.OfferID, "applicationUsername": offer.ApplicationUsername,
	}.text("bundleId", offer.BundleID).text("nonce", offer.Nonce)
	if !offer.Timestamp.IsZero() {
		request["timestamp"] = offer.Timestamp.UnixMilli()
	}
	document, err := s.verifier.atOnce(ctx, request, options)
	return verified[SignedOfferV1](document, err, "exchange")
}

// A given is a request without the members that were left out.
type given map[string]any

func (request given) text(name, value string) given {
	if value != "" {
		request[name] = value
	}
	return request
}

func (request given) milliseconds(name string, value time.Duration) given {
	if value != 0 {
		request[name] = value.Milliseconds()
	}
	return request
}

// String returns when the token expires, without its text.
func (t SignedToken) String() string { return "token until " + t.ExpiresAt.String() }

// GoString returns the same text as String.
func (t SignedToken) GoString() string { return t.String() }

// String returns when the secret expires, without its text.
func (s ClientSecret) String() string { return "client secret until " + s.ExpiresAt.String() }

// GoString returns the same text as String.
func (s ClientSecret) GoString() string { return s.String() }
