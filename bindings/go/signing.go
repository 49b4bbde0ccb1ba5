package assay

import (
	"context"
	"time"
)

// A Signer signs tokens, client secrets and offers with the keys of the configuration. Made by
// Verifier.Signer.
type Signer struct{ verifier *Verifier }

// Signer is what signs with the verifier's keys.
func (v *Verifier) Signer() *Signer { return &Signer{v} }

// SignAPIToken makes a token for the App Store Server API, good for five minutes: make
// one for each request. bundleID may be empty where one app is configured.
//
// Needs the block `appStoreServerApi` (ErrConfig).
func (s *Signer) SignAPIToken(
	ctx context.Context, bundleID string, options ...Option,
) (*SignedToken, error) {
	request := given{"operation": "sign-api-token"}.text("bundleId", bundleID)
	document, err := s.verifier.atOnce(ctx, request, options)
	return verified[SignedToken](document, err, "exchange")
}

// SignDeviceCheckToken makes a token for Apple's DeviceCheck and App Attest servers, good
// for 20 minutes. Needs the block `deviceCheck` with its key (ErrConfig).
func (s *Signer) SignDeviceCheckToken(
	ctx context.Context, options ...Option,
) (*SignedToken, error) {
	document, err := s.verifier.atOnce(ctx, given{"operation": "sign-device-check-token"}, options)
	return verified[SignedToken](document, err, "exchange")
}

// SignAppleClientSecret makes the client secret of Sign in with Apple. clientID may be empty
// where there is one; a life of 0 is five minutes. Needs the block `appleId`.
func (s *Signer) SignAppleClientSecret(
	ctx context.Context, clientID string, life time.Duration, options ...Option,
) (*ClientSecret, error) {
	request := given{"operation": "sign-apple-client-secret"}.text("clientId", clientID).
		milliseconds("ttlMs", life)
	document, err := s.verifier.atOnce(ctx, request, options)
	return verified[ClientSecret](document, err, "exchange")
}

// A SignPromotionalOfferRequest is what is signed for the app. Never let a client choose it.
type SignPromotionalOfferRequest struct {
	// May be empty where one app is configured.
	BundleID  string
	ProductID string
	OfferID   string
	// Any transaction of the customer's; without one anybody can use the offer.
	TransactionID string
	// A UUID; empty: a new one.
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

// A SignIntroductoryOfferEligibilityRequest says whether a customer may have it.
type SignIntroductoryOfferEligibilityRequest struct {
	BundleID      string
	ProductID     string
	Allowed       bool
	TransactionID string
	Nonce         string
}

// SignIntroductoryOfferEligibility signs whether a customer may have the introductory offer,
// whatever the App Store thinks, as a JWS for the app.
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
	// ASCII: the appAccountToken, or empty.
	ApplicationUsername string
	Nonce               string
	// Zero: now.
	Timestamp time.Time
}

// SignPromotionalOfferV1 signs an offer for the original StoreKit API: the app passes
// exactly the four values.
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

// String says when it ends, not what it is.
func (t SignedToken) String() string { return "token until " + t.ExpiresAt.String() }

// GoString is the same.
func (t SignedToken) GoString() string { return t.String() }

// String says when it ends, not what it is.
func (s ClientSecret) String() string { return "client secret until " + s.ExpiresAt.String() }

// GoString is the same.
func (s ClientSecret) GoString() string { return s.String() }
