package assay

import (
	"context"
	"encoding/base64"
)

// RefreshAttestReceipt asks Apple for a new receipt of an attested key: store its Bytes
// instead of the old one. evidence is the old receipt, or the attestation with it. Needs
// the block `deviceCheck` with its key (ErrConfig).
//
// The error is ErrUnavailable where Apple has no answer now: keep the old receipt, and put
// `exchange.retry` of the error's Document into your queue. With
// rejected.attest-refresh.no-data and .expired only a new key has a metric again, which is
// no sign of fraud.
func (v *Verifier) RefreshAttestReceipt(
	ctx context.Context, evidence Evidence, runner StepRunner, options ...Option,
) (*RefreshedReceipt, error) {
	request := given{"operation": "refresh-attest-receipt"}
	document, err := v.runExchange(ctx, request, []Evidence{evidence}, runner, options)
	return verified[RefreshedReceipt](document, err, "exchange", "attestReceipt")
}

// A CheckRevocationRequest says how strictly the certificates of a JWS are asked about.
type CheckRevocationRequest struct {
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

// runExchange is the result of an exchange over the network.
func (v *Verifier) runExchange(
	ctx context.Context, request given, evidence []Evidence, runner StepRunner, options []Option,
) (*Document, error) {
	exchange, err := v.Exchange(ctx, request, evidence, options...)
	if err != nil {
		return nil, err
	}
	return exchange.Run(ctx, runner, options...)
}
