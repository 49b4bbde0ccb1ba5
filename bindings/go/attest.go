package assay

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"runtime"
	"strings"
	"unicode/utf8"

	"assay.example/bindings/go/internal/libassay"
)

// ClientData is the data that an app passed to App Attest, or the hash of it.
type ClientData struct {
	kind int32
	text libassay.Text
}

// ClientDataBytes returns client data given as bytes; the library hashes them.
func ClientDataBytes(data []byte) ClientData {
	return ClientData{libassay.ClientData, libassay.GivenBytes(data)}
}

// ClientDataHash returns client data given as their hash, 16 to 64 bytes, used unchanged.
func ClientDataHash(hash []byte) ClientData {
	return ClientData{libassay.ClientDataHash, libassay.GivenBytes(hash)}
}

// VerifyAttestation verifies an App Attest attestation and the receipt inside it: the key was
// made by one of this verifier's apps, in the Secure Enclave of a genuine device.
//
// attestation is the bytes of the object that attestKey returned to the app. keyID is the key
// identifier in any of its forms: the base64 text that generateKey returned, base64url, hex,
// or the 32 bytes. data is what the app hashed for attestKey.
//
// Needs an App ID: `teamId` of an app, or `attest.appIds`. The error is ErrRejected if the
// attestation is not genuine, or not of this key, client data, app or environment; Hint names
// the common mistake that would explain it. It is ErrMalformed, ErrUnsupported or ErrTooLarge
// if the bytes are not an attestation; ErrConfig without an App ID; ErrMisuse for client data
// of the wrong length or a time outside 2008 … 2100; ErrClosed after Close.
func (v *Verifier) VerifyAttestation(
	ctx context.Context, attestation []byte, keyID string, data ClientData, options ...Option,
) (*Attestation, error) {
	chosen, err := begun(ctx, options, 0)
	if err != nil {
		return nil, err
	}
	answer, open := libassay.VerifyAttestation(&v.handle, libassay.GivenBytes(attestation),
		libassay.Given(keyID), data.kind, data.text, chosen.now)
	document, err := v.own(answer, open)
	return verified[Attestation](document, err, "attestation")
}

// VerifyAssertion verifies an App Attest assertion: the attested key signed these client data,
// and its counter is greater than the stored one.
//
// assertion is the bytes of the object that generateAssertion returned to the app. publicKey
// is the stored one of the device key: PublicKey.X963 or PublicKey.SPKI of its attestation.
// counter is the last one stored for this key, 0 at first.
//
// Store the new Counter only if the stored one is still smaller: the library compares the
// values, and the database decides between two simultaneous requests. The error is ErrRejected
// if the assertion is not signed by this key over this client data, is of another app, or its
// counter is not greater (rejected.assertion.counter: a replay, or requests out of order);
// ErrMisuse for an invalid public key. Other errors are those of VerifyAttestation.
func (v *Verifier) VerifyAssertion(
	ctx context.Context, assertion, publicKey []byte, counter uint32, data ClientData,
	options ...Option,
) (*Assertion, error) {
	chosen, err := begun(ctx, options, 0)
	if err != nil {
		return nil, err
	}
	answer, open := libassay.VerifyAssertion(&v.handle, libassay.GivenBytes(assertion),
		libassay.GivenBytes(publicKey), counter, data.kind, data.text, chosen.now)
	document, err := v.own(answer, open)
	return verified[Assertion](document, err, "assertion")
}

// VerifyAttestReceipt verifies an App Attest receipt, from an attestation or from Apple, as
// bytes or as base64 in the form in which it was stored or received.
//
// The option PublicKeyOf names the key that the receipt must be about; without it Bound is
// false. A receipt stored for longer than `attest.maxAgeMs` needs a verifier with
// `attest.time` "stored". The error is ErrRejected if the receipt is not genuine, not of this
// verifier's apps and environments, of another key, or too old. Other errors are those of
// VerifyAttestation.
func (v *Verifier) VerifyAttestReceipt(
	ctx context.Context, receipt []byte, options ...Option,
) (*AttestReceipt, error) {
	document, err := v.receipt(
		ctx, libassay.ReceiptAttest, receipt, options, optionPublicKey)
	return verified[AttestReceipt](document, err, "attestReceipt")
}

// A DeviceCall is one endpoint of Apple's DeviceCheck API.
type DeviceCall string

// The endpoints query_two_bits, update_two_bits and validate_device_token.
const (
	DeviceQuery    DeviceCall = "query"
	DeviceUpdate   DeviceCall = "update"
	DeviceValidate DeviceCall = "validate"
)

// A DeviceCheckResponse is a response of Apple's DeviceCheck API that you fetched.
type DeviceCheckResponse struct {
	Call DeviceCall
	// Status is the HTTP status; 0 if no response arrived.
	Status int
	// Body is the whole body of the response.
	Body []byte
	// Whether to report if the device has already used an offer that it gets once: the
	// configured bit whose name begins with "promo". Only with DeviceQuery.
	Offer bool
}

// ReadDeviceCheckResponse decodes a response of Apple's DeviceCheck API.
//
// Needs the block `deviceCheck`. The error is ErrRejected if Apple refuses the device token or
// the request (Fault names which) and, with Offer, if the offer was used
// (rejected.promo.device-used); ErrUnavailable if the response contains no usable value: the
// device is then neither clean nor used. Facts of the error's Document are then the input of
// AssessRisk. ErrConfig without the block; ErrMisuse for another call, a status above 599, or
// Offer with a call other than a query.
func (v *Verifier) ReadDeviceCheckResponse(
	ctx context.Context, answer DeviceCheckResponse, options ...Option,
) (*DeviceCheck, error) {
	request := map[string]any{
		"operation": "read-device-check-response", "call": answer.Call, "status": answer.Status,
		"body":  map[string]string{"base64": base64.StdEncoding.EncodeToString(answer.Body)},
		"offer": answer.Offer,
	}
	document, err := v.atOnce(ctx, request, options)
	return verified[DeviceCheck](document, err, "exchange", "deviceCheck")
}

// NormalizeDeviceToken returns a device token in the form that Apple requires: standard
// base64. token is base64 of what generateToken returned to the app; DeviceTokenText makes it
// from bytes.
//
// The token is not verified: only Apple can do that. The error is ErrMalformed for a text that
// is not base64, or an empty token; ErrTooLarge for more than 8,192 bytes.
func (v *Verifier) NormalizeDeviceToken(
	ctx context.Context, token string, options ...Option,
) (string, error) {
	if !utf8.ValidString(token) {
		token = strings.ToValidUTF8(token, "\ufffd")
	}
	request := map[string]any{"operation": "normalize-device-token", "deviceToken": token}
	return v.textAtOnce(ctx, request, "deviceToken", options)
}

// DeviceTokenText returns the base64 of a device token that arrived as bytes.
func DeviceTokenText(token []byte) string { return base64.StdEncoding.EncodeToString(token) }

// NormalizeKeyID returns the normal form of an App Attest key identifier: standard base64, as
// in KeyID of an Attestation. Look up keys by this form only.
//
// keyID is what the app sent: base64, base64url without padding, or hex. The error is
// ErrMalformed (malformed.attest.key-id) for any other text.
func (v *Verifier) NormalizeKeyID(
	ctx context.Context, keyID string, options ...Option,
) (string, error) {
	if !utf8.ValidString(keyID) {
		keyID = strings.ToValidUTF8(keyID, "\ufffd")
	}
	request := map[string]any{"operation": "normalize-key-id", "keyId": keyID}
	return v.textAtOnce(ctx, request, "keyId", options)
}

// AssessRisk recommends how to treat a request from what was observed about it, for devices
// that support App Attest and for those that do not.
//
// observations is a map or a struct that marshals to an object with `request`,
// `attestation`, and what else is known (docs/risk.md), or the JSON of one. Its
// `deviceCheck` may be what ReadDeviceCheckResponse returned.
//
// A verdict other than allow is a result, not an error. The error is ErrMalformed
// (malformed.risk.input, with the member in Place) for an unknown member or value, because a
// misspelt one must not lower the risk.
func (v *Verifier) AssessRisk(
	ctx context.Context, observations any, options ...Option,
) (*Risk, error) {
	given, err := jsonText(observations, "observations")
	if err != nil {
		return nil, err
	}
	document, err := v.atOnce(ctx, map[string]any{
		"operation": "assess-risk", "observations": json.RawMessage(given)}, options)
	if err != nil {
		return nil, err
	}
	if !document.OK() && !strings.HasPrefix(document.status.String(), "rejected.risk.") {
		return nil, document.Err()
	}
	return read[Risk](document, "risk")
}

// atOnce returns the document of an operation that needs no step.
func (v *Verifier) atOnce(
	ctx context.Context, request any, options []Option, evidence ...Evidence,
) (*Document, error) {
	asked, err := v.asked(ctx, request, evidence, options)
	if err != nil {
		return nil, err
	}
	answer, closed := libassay.Call(&v.handle, asked.text, asked.handles, asked.now)
	runtime.KeepAlive(asked.documents)
	return v.answered(answer, closed)
}

// textAtOnce returns one text member of the result of an operation that needs no step.
func (v *Verifier) textAtOnce(
	ctx context.Context, request any, member string, options []Option, evidence ...Evidence,
) (string, error) {
	document, err := v.atOnce(ctx, request, options, evidence...)
	if err == nil {
		err = document.Err()
	}
	if err != nil {
		return "", err
	}
	s := scanner{text: document.json}
	if s.seek("exchange") && s.seek(member) {
		if text, ok := s.str(); ok {
			return text, nil
		}
	}
	return "", document.unreadable()
}
