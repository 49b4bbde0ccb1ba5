package assay

import "context"

// A DeviceCheckClient calls Apple's DeviceCheck API over the network. Verifier.DeviceCheck
// makes one.
type DeviceCheckClient struct{ verifier *Verifier }

// DeviceCheck returns a client of Apple's DeviceCheck API.
func (v *Verifier) DeviceCheck() *DeviceCheckClient { return &DeviceCheckClient{v} }

// A DeviceCheckRequest identifies the device of one call.
type DeviceCheckRequest struct {
	// Token is base64 of what generateToken returned to the app; DeviceTokenText makes it from
	// bytes.
	Token string
	// TransactionID is your own id of the call, 1 to 64 characters, for your log.
	TransactionID string
}

// QueryDeviceBits fetches the two bits of a device from Apple. runner runs each HTTP step, as
// the method Send of a Sender does. offer is whether to report if the device has already used
// an offer that it gets once.
//
// It waits and retries as Apple allows, for a few seconds at most. Needs the block
// `deviceCheck` with its key. The errors are those of ReadDeviceCheckResponse.
func (c *DeviceCheckClient) QueryDeviceBits(
	ctx context.Context, device DeviceCheckRequest, offer bool, runner StepRunner,
	options ...Option,
) (*DeviceCheck, error) {
	request := device.request("query-device-bits")
	request["offer"] = offer
	document, err := c.verifier.runExchange(ctx, request, nil, runner, options)
	return verified[DeviceCheck](document, err, "exchange", "deviceCheck")
}

// UpdateDeviceBits sets the bits of a device; a nil bit stays unchanged. The other arguments
// and the errors are those of QueryDeviceBits.
func (c *DeviceCheckClient) UpdateDeviceBits(
	ctx context.Context, device DeviceCheckRequest, bit0, bit1 *bool, runner StepRunner,
	options ...Option,
) (*DeviceCheck, error) {
	request := device.request("update-device-bits")
	if bit0 != nil {
		request["bit0"] = *bit0
	}
	if bit1 != nil {
		request["bit1"] = *bit1
	}
	document, err := c.verifier.runExchange(ctx, request, nil, runner, options)
	return verified[DeviceCheck](document, err, "exchange", "deviceCheck")
}

// ValidateDeviceToken asks Apple whether a device token is valid, without reading the bits.
// The other arguments and the errors are those of QueryDeviceBits.
func (c *DeviceCheckClient) ValidateDeviceToken(
	ctx context.Context, device DeviceCheckRequest, runner StepRunner, options ...Option,
) (*DeviceCheck, error) {
	request := device.request("validate-device-token")
	document, err := c.verifier.runExchange(ctx, request, nil, runner, options)
	return verified[DeviceCheck](document, err, "exchange", "deviceCheck")
}

func (d DeviceCheckRequest) request(operation string) given {
	return given{"operation": operation, "deviceToken": d.Token,
		"transactionId": d.TransactionID}
}

// String returns the transaction id, without the token.
func (d DeviceCheckRequest) String() string { return "device check of " + d.TransactionID }

// GoString returns the same text as String.
func (d DeviceCheckRequest) GoString() string { return d.String() }
