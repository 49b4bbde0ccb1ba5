package assay

import (
	"context"
	"encoding/base64"
)

// A DeviceTalk is about one device token.
type DeviceTalk struct {
	// Base64 of what generateToken returned to the app; DeviceTokenText makes it of bytes.
	Token string
	// 1 to 64 characters, your own: the key in your log.
	TransactionID string
}

// QueryDevice asks Apple for the two bits of a device, over the network: carry carries out
// a request, as the method CarryOut of a Sender does. offer asks whether an offer that a
// device gets once was used here.
//
// It waits and repeats as Apple allows, a few seconds at most. Needs the block
// `deviceCheck` with its key. Errors are as of ReadDeviceCheck.
func (v *Verifier) QueryDevice(
	ctx context.Context, device DeviceTalk, offer bool, carry Carrier, options ...Option,
) (*DeviceCheck, error) {
	request := device.request("query-device-bits")
	request["offer"] = offer
	document, err := v.talk(ctx, request, nil, carry, options)
	return verified[DeviceCheck](document, err, "exchange", "deviceCheck")
}

// UpdateDevice sets the bits of a device; one that is nil stays as it is. Everything else
// is as of QueryDevice.
func (v *Verifier) UpdateDevice(
	ctx context.Context, device DeviceTalk, bit0, bit1 *bool, carry Carrier, options ...Option,
) (*DeviceCheck, error) {
	request := device.request("update-device-bits")
	if bit0 != nil {
		request["bit0"] = *bit0
	}
	if bit1 != nil {
		request["bit1"] = *bit1
	}
	document, err := v.talk(ctx, request, nil, carry, options)
	return verified[DeviceCheck](document, err, "exchange", "deviceCheck")
}

// ValidateDevice has Apple look at a device token alone. Everything else is as of
// QueryDevice.
func (v *Verifier) ValidateDevice(
	ctx context.Context, device DeviceTalk, carry Carrier, options ...Option,
) (*DeviceCheck, error) {
	document, err := v.talk(ctx, device.request("validate-device-token"), nil, carry, options)
	return verified[DeviceCheck](document, err, "exchange", "deviceCheck")
}

func (d DeviceTalk) request(operation string) given {
	return given{"operation": operation, "deviceToken": d.Token,
		"transactionId": d.TransactionID}
}

// String does not say the token.
func (d DeviceTalk) String() string { return "device talk " + d.TransactionID }

// GoString is the same.
func (d DeviceTalk) GoString() string { return d.String() }

// RefreshAttestReceipt asks Apple for a new receipt of an attested key: store its Bytes
// instead of the old one. evidence is the old receipt, or the attestation with it. Needs
// the block `deviceCheck` with its key (ErrConfig).
//
// The error is ErrUnavailable where Apple has no answer now: keep the old receipt, and put
// `exchange.retry` of the error's Document into your queue. With
// rejected.attest-refresh.no-data and .expired only a new key has a metric again, which is
// no sign of fraud.
func (v *Verifier) RefreshAttestReceipt(
	ctx context.Context, evidence Evidence, carry Carrier, options ...Option,
) (*RefreshedReceipt, error) {
	document, err := v.talk(ctx, given{"operation": "refresh-attest-receipt"}, []Evidence{evidence}, carry,
		options)
	return verified[RefreshedReceipt](document, err, "exchange", "attestReceipt")
}

// A RevocationQuestion says how strictly the certificates of a JWS are asked about.
type RevocationQuestion struct {
	// An answer that does not come is no refusal.
	BestEffort bool
	// What you kept of earlier answers: Response by SHA256, until its NextUpdate.
	Responses map[string][]byte
}

// CheckRevocation asks Apple's responder whether the certificates of a verified JWS are
// revoked: two requests at most. What it returns is evidence like the JWS itself.
//
// The error is ErrRejected for revoked and unknown certificates, and for answers that may
// not be believed; ErrUnavailable where none came: that is no forgery, try later.
func (v *Verifier) CheckRevocation(
	ctx context.Context, evidence Evidence, question RevocationQuestion, carry Carrier,
	options ...Option,
) (*Revocation, error) {
	mode := "required"
	if question.BestEffort {
		mode = "best-effort"
	}
	kept := []map[string]string{}
	for name, response := range question.Responses {
		kept = append(kept, map[string]string{
			"sha256": name, "der": base64.StdEncoding.EncodeToString(response)})
	}
	request := given{"operation": "check-revocation", "mode": mode, "responses": kept}
	document, err := v.talk(ctx, request, []Evidence{evidence}, carry, options)
	return verified[Revocation](document, err, "exchange", "revocation")
}

// VerifyDevice checks that a JWS was made on a device. evidence is one transaction, renewal
// or app transaction, deviceID the app's AppStore.deviceVerificationID. The document is
// evidence like the JWS itself.
//
// The error is ErrRejected (rejected.account.device) for another device, ErrMisuse for a JWS
// that was not made on a device and for an id that is no UUID.
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

// talk is the result of a conversation over the network.
func (v *Verifier) talk(
	ctx context.Context, request given, evidence []Evidence, carry Carrier, options []Option,
) (*Document, error) {
	exchange, err := v.Exchange(ctx, request, evidence, options...)
	if err != nil {
		return nil, err
	}
	return exchange.Run(ctx, carry, options...)
}
