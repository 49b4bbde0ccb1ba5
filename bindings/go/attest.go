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

// ClientData is what a device signed, or the hash of it.
type ClientData struct {
	kind int32
	text libassay.Text
}

// ClientDataBytes are the client data byte for byte; they are hashed by the
// library.
func ClientDataBytes(data []byte) ClientData {
	return ClientData{libassay.ClientData, libassay.GivenBytes(data)}
}

// ClientDataHash is the hash of client data, used as it stands: 16 to 64 bytes.
func ClientDataHash(hash []byte) ClientData {
	return ClientData{libassay.ClientDataHash, libassay.GivenBytes(hash)}
}

// VerifyAttestation verifies an App Attest attestation and the receipt inside it: a
// key in the Secure Enclave of a genuine device, made by one of this verifier's
// apps.
//
// attestation is the object that attestKey returned to the app, its bytes. keyID is the
// key identifier in any of its forms: the base64 text that generateKey returned,
// base64url, hex, or the 32 bytes. data is what the app hashed for attestKey.
//
// Needs an App ID: `teamId` of an app, or `attest.appIds`. The error is ErrRejected
// when it is not genuine, or not of this key, client data, app or environment: Hint
// names the common mistake that would explain it; ErrMalformed, ErrUnsupported or
// ErrTooLarge when it is not an attestation; ErrConfig without an App ID; ErrMisuse for
// client data of the wrong length or a time outside 2008 … 2100; ErrClosed.
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

// VerifyAssertion verifies an App Attest assertion: the attested key signed these
// client data, later than the last time.
//
// assertion is the object that generateAssertion returned to the app, its bytes. publicKey
// is the one in the key record: PublicKey.X963 or PublicKey.SPKI of its attestation.
// counter is the last one stored for this key, 0 at first.
//
// Store the new Counter only if the stored one is still smaller: the library
// compares, the store decides between two requests at once. The error is
// ErrRejected when it is not signed by this key over this client data, of another
// app, or not newer (rejected.assertion.counter: a replay, or requests out of
// order); ErrMisuse for an invalid public key. Others as of VerifyAttestation.
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

// VerifyAttestReceipt verifies an App Attest receipt, from an attestation or from
// Apple: as it was stored, or as Apple answered, its bytes or base64.
//
// The option PublicKeyOf names the key that it must be about; without it Bound is
// false. A receipt that was kept longer than `attest.maxAgeMs` needs a verifier with
// `attest.time` "stored". The error is ErrRejected when it is not genuine, not of
// this verifier's apps and environments, of another key, or too old. Others as of
// VerifyAttestation.
func (v *Verifier) VerifyAttestReceipt(
	ctx context.Context, receipt []byte, options ...Option,
) (*AttestReceipt, error) {
	document, err := v.receipt(
		ctx, libassay.ReceiptAttest, receipt, options, optionPublicKey)
	return verified[AttestReceipt](document, err, "attestReceipt")
}

// A DeviceCall is a path of Apple's DeviceCheck endpoint.
type DeviceCall string

// The paths query_two_bits, update_two_bits and validate_device_token.
const (
	DeviceQuery    DeviceCall = "query"
	DeviceUpdate   DeviceCall = "update"
	DeviceValidate DeviceCall = "validate"
)

// A DeviceCheckResponse is an answer of Apple's DeviceCheck endpoint, which you fetched.
type DeviceCheckResponse struct {
	Call DeviceCall
	// Status of the HTTP answer; 0: there was none.
	Status int
	// Its whole body.
	Body []byte
	// Whether to say if an offer that a device gets once was used here, by the
	// configured bit whose name begins with "promo"; with DeviceQuery.
	Offer bool
}

// ReadDeviceCheckResponse reads an answer from Apple's DeviceCheck endpoint.
//
// Needs the block `deviceCheck`. The error is ErrRejected when Apple refuses the
// device token or our request (Fault says which) and, with Offer, when the offer was
// used (rejected.promo.device-used); ErrUnavailable for an answer that says nothing:
// it is neither a clean device nor a used one. What AssessRisk needs is then the
// Facts of the error's Document. ErrConfig without the block, ErrMisuse for another
// call, a status beyond 599, or Offer with a call other than a query.
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

// NormalizeDeviceToken gives the form in which Apple takes a device token: standard
// base64. token is base64 of what generateToken returned to the app; DeviceTokenText makes
// it of the bytes.
//
// It says nothing about the token's worth: only Apple can. The error is ErrMalformed
// for a text that is not base64, or an empty token; ErrTooLarge for more than 8,192
// bytes.
func (v *Verifier) NormalizeDeviceToken(
	ctx context.Context, token string, options ...Option,
) (string, error) {
	if !utf8.ValidString(token) {
		token = strings.ToValidUTF8(token, "\ufffd")
	}
	request := map[string]any{"operation": "normalize-device-token", "deviceToken": token}
	return v.textAtOnce(ctx, request, "deviceToken", options)
}

// DeviceTokenText is the text of a device token that came as bytes.
func DeviceTokenText(token []byte) string { return base64.StdEncoding.EncodeToString(token) }

// NormalizeKeyID gives the normal form of an App Attest key identifier: standard base64, as
// KeyID of an Attestation has it. Look keys up by this form alone.
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

// AssessRisk says what to do with a request, by what was observed about it: for
// devices that cannot attest, and for those that can.
//
// observations is a map or a struct that marshals to an object with `request`,
// `attestation`, and what else is known (docs/risk.md), or the JSON of one. Its
// `deviceCheck` may be what ReadDeviceCheckResponse returned.
//
// A verdict other than allow is an answer, not an error. The error is ErrMalformed
// (malformed.risk.input, with the member in Place) for an unknown member or value: a
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

// atOnce is the document of a request that needs nothing carried out.
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

// textAtOnce is one text in what such a request found.
func (v *Verifier) textAtOnce(
	ctx context.Context, request any, member string, options []Option,
) (string, error) {
	document, err := v.atOnce(ctx, request, options)
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
