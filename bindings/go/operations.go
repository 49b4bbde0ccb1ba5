package assay

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// RefreshAttestReceipt fetches a new receipt of an attested key from Apple: store its Bytes
// instead of the old one. evidence is the old receipt, or the attestation with it. Needs the
// block `deviceCheck` with its key (ErrConfig).
//
// The error is ErrUnavailable if Apple has no new receipt now: keep the old one, and put
// `exchange.retry` of the error's Document into your queue. After
// rejected.attest-refresh.no-data and .expired only a new key has a risk metric again; neither
// is a sign of fraud.
func (v *Verifier) RefreshAttestReceipt(
	ctx context.Context, evidence Evidence, runner StepRunner, options ...Option,
) (*RefreshedReceipt, error) {
	request := given{"operation": "refresh-attest-receipt"}
	document, err := v.runExchange(ctx, request, []Evidence{evidence}, runner, options)
	return verified[RefreshedReceipt](document, err, "exchange", "attestReceipt")
}

// A CheckRevocationRequest is how strictly the certificates of a JWS are checked.
type CheckRevocationRequest struct {
	// Whether a missing OCSP response is no refusal.
	BestEffort bool
	// Responses are earlier OCSP responses that you kept: Response by SHA256, until
	// NextUpdate.
	Responses map[string][]byte
}

// CheckRevocation asks Apple's OCSP responder whether the certificates of a verified JWS are
// revoked, with at most two requests. Its result is evidence like the JWS itself.
//
// The error is ErrRejected for revoked and unknown certificates, and for responses that do not
// verify; ErrUnavailable if no response arrived: that is no sign of forgery, try later.
func (v *Verifier) CheckRevocation(
	ctx context.Context, evidence Evidence, asked CheckRevocationRequest, runner StepRunner,
	options ...Option,
) (*Revocation, error) {
	mode := "required"
	if asked.BestEffort {
		mode = "best-effort"
	}
	kept := []map[string]string{}
	for name, response := range asked.Responses {
		kept = append(kept, map[string]string{
			"sha256": name, "der": base64.StdEncoding.EncodeToString(response)})
	}
	request := given{"operation": "check-revocation", "mode": mode, "responses": kept}
	document, err := v.runExchange(ctx, request, []Evidence{evidence}, runner, options)
	return verified[Revocation](document, err, "exchange", "revocation")
}

// A BuildRealtimeResponseRequest is the answer to a realtime request of retention messaging: a
// message, alone or with one of another product, an offer and an Advanced Commerce request.
type BuildRealtimeResponseRequest struct {
	// Evidence is the verified request: product and transaction of an offer that names none.
	Evidence          Evidence
	MessageIdentifier string
	// AlternateProductID is the product to switch to, BillingPlanType its plan.
	AlternateProductID string
	BillingPlanType    BillingPlanType
	// OfferID is a promotional offer, which is signed here; the next four are as in
	// SignPromotionalOfferRequest.
	OfferID       string
	ProductID     string
	TransactionID string
	Nonce         string
	BundleID      string
	// PromotionalOfferSignatureV2 is an offer that is signed already; PromotionalOfferSignatureV1
	// is one of the original StoreKit API, with Apple's members.
	PromotionalOfferSignatureV2 string
	PromotionalOfferSignatureV1 map[string]any
	// AdvancedCommerceRequestData is a signed change of an Advanced Commerce subscription.
	AdvancedCommerceRequestData string
}

// BuildRealtimeResponse returns the answer to a realtime request: JSON for the body of a response
// with status 200. The error is ErrMisuse for a wrong form, and for two answers at once.
func (v *Verifier) BuildRealtimeResponse(
	ctx context.Context, answer BuildRealtimeResponseRequest, options ...Option,
) (string, error) {
	request := given{
		"operation": "build-realtime-response", "messageIdentifier": answer.MessageIdentifier,
	}.text("alternateProductId", answer.AlternateProductID).
		text("billingPlanType", string(answer.BillingPlanType)).
		text("offerIdentifier", answer.OfferID).text("productId", answer.ProductID).
		text("transactionId", answer.TransactionID).text("nonce", answer.Nonce).
		text("bundleId", answer.BundleID).
		text("promotionalOfferSignatureV2", answer.PromotionalOfferSignatureV2).
		text("advancedCommerceRequestData", answer.AdvancedCommerceRequestData)
	if answer.PromotionalOfferSignatureV1 != nil {
		request["promotionalOfferSignatureV1"] = answer.PromotionalOfferSignatureV1
	}
	var evidence []Evidence
	if answer.Evidence != nil {
		evidence = []Evidence{answer.Evidence}
	}
	return v.textAtOnce(ctx, request, "body", options, evidence...)
}

// VerifyDevice verifies that a JWS was made for a device. evidence is one transaction, renewal
// info or app transaction; deviceID is the app's AppStore.deviceVerificationID. The document
// is evidence like the JWS itself.
//
// The error is ErrRejected (rejected.account.device) for another device; ErrMisuse for a JWS
// that was not made on a device, and for an id that is not a UUID.
func (v *Verifier) VerifyDevice(
	ctx context.Context, evidence Evidence, deviceID string, options ...Option,
) (*Document, error) {
	request := given{"operation": "verify-device", "deviceId": deviceID}
	document, err := v.atOnce(ctx, request, options, evidence)
	if err != nil {
		return nil, err
	}
	return document, document.Err()
}

// A VerifyReceiptRequest is a request to Apple's deprecated verifyReceipt endpoint, and how it is
// to be answered.
type VerifyReceiptRequest struct {
	// The body of the HTTP request, as it came.
	Body []byte
	// The endpoint that is answered for: Production or Sandbox.
	Endpoint Environment
	// What is newer than the receipt, up to 64. What is about no purchase of the receipt is left
	// out.
	Evidence []Evidence
	// Whether what does not verify is 21002, as Apple answers, and not 21003, as Apple documents.
	Measured bool
	// Whether the receipt may be encoded in forms that Apple turns away.
	Tolerant bool
	// Whether a subscription that has ended, with nothing newer known, is 21005, so that the
	// client asks again.
	EndedLater bool
	// Whether the answer lacks the member `assay`, which says that it is not Apple's.
	Unmarked bool
}

// AnswerVerifyReceipt answers a request to Apple's deprecated verifyReceipt endpoint offline, in
// Apple's words. Send Body of the answer with its HTTPStatus, whatever it is.
//
// A refused receipt is an answer and not an error: AppleStatus is 0 or 21006 only for a receipt
// that verified. The error is ErrMisuse for an endpoint whose environment the configuration does
// not accept.
func (v *Verifier) AnswerVerifyReceipt(
	ctx context.Context, asked VerifyReceiptRequest, options ...Option,
) (*VerifyReceiptAnswer, error) {
	request := given{
		"operation": "answer-verify-receipt", "endpoint": asked.Endpoint,
		"body": map[string]string{"base64": base64.StdEncoding.EncodeToString(asked.Body)},
		"mark": !asked.Unmarked,
	}
	if asked.Measured {
		request["refusals"] = "measured"
	}
	if asked.Tolerant {
		request["base64"] = "tolerant"
	}
	if asked.EndedLater {
		request["ended"] = "later"
	}
	document, err := v.atOnce(ctx, request, options, asked.Evidence...)
	if err != nil {
		return nil, err
	}
	if family := document.status.Family(); family == ErrMisuse || family == ErrConfig {
		return nil, document.Err()
	}
	return read[VerifyReceiptAnswer](document, "exchange", "answer")
}

// AssessRefund decides by the rules of `refunds` what to answer when Apple asks about a refund.
//
// purchase, which Apple asks about, and observations, such as the customer's consent, are maps or
// structs that marshal to objects, or the JSON of ones (docs/tasks/refund-answers.md). Send Request
// of the answer and nothing else: it is empty unless the answer is RefundActionSend.
//
// Every answer is a result, not an error. The error is ErrMalformed (malformed.refund.input, with
// the member in Place) for an unknown, missing or wrong member.
func (v *Verifier) AssessRefund(
	ctx context.Context, purchase, observations any, options ...Option,
) (*RefundAnswer, error) {
	asked, err := jsonText(purchase, "case")
	if err != nil {
		return nil, err
	}
	observed, err := jsonText(observations, "observations")
	if err != nil {
		return nil, err
	}
	document, err := v.atOnce(ctx, map[string]any{
		"operation": "assess-refund", "case": json.RawMessage(asked),
		"observations": json.RawMessage(observed)}, options)
	if err != nil {
		return nil, err
	}
	name := document.status.String()
	byRules := strings.HasPrefix(name, "rejected.refund.") ||
		strings.HasPrefix(name, "unavailable.refund.")
	if !document.OK() && !byRules {
		return nil, document.Err()
	}
	return read[RefundAnswer](document, "exchange", "refund")
}

// A ComputeRefundUnitsRequest is what a revocation says, and what was granted.
type ComputeRefundUnitsRequest struct {
	// Units is what was promised when the purchase was claimed.
	Units int64
	// Percentage is the RevocationPercentage of the transaction; nil: all of it.
	Percentage *int64
	// RevocationType is its RevocationType: without a percentage, REFUND_PRORATED is a share that
	// is not known, and nothing is taken.
	RevocationType RevocationType
	// Type is its Type; only consumables, which is the default, are divided.
	Type ProductType
	// GrantedUnits is what the customer was given and was not taken back; nil: Units.
	GrantedUnits *int64
}

// ComputeRefundUnits returns how many units a revocation takes back, and how many stay with the
// customer. The error is ErrMisuse for a number out of range and for another type.
func (v *Verifier) ComputeRefundUnits(
	ctx context.Context, asked ComputeRefundUnitsRequest, options ...Option,
) (*RefundUnits, error) {
	request := given{"operation": "compute-refund-units", "units": asked.Units}.
		text("revocationType", string(asked.RevocationType)).text("type", string(asked.Type))
	if asked.Percentage != nil {
		request["percentage"] = *asked.Percentage
	}
	if asked.GrantedUnits != nil {
		request["grantedUnits"] = *asked.GrantedUnits
	}
	document, err := v.atOnce(ctx, request, options)
	return verified[RefundUnits](document, err, "exchange", "units")
}

// runExchange runs an HTTP exchange and returns its result.
func (v *Verifier) runExchange(
	ctx context.Context, request given, evidence []Evidence, runner StepRunner, options []Option,
) (*Document, error) {
	exchange, err := v.Exchange(ctx, request, evidence, options...)
	if err != nil {
		return nil, err
	}
	return exchange.Run(ctx, runner, options...)
}
