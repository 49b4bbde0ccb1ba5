package assay

import "context"

// A DeviceCheckClient asks Apple's DeviceCheck service about devices, over the network. Made by
// Verifier.DeviceCheck.
type DeviceCheckClient struct{ verifier *Verifier }

// DeviceCheck is Apple's DeviceCheck service.
func (v *Verifier) DeviceCheck() *DeviceCheckClient { return &DeviceCheckClient{v} }

// A DeviceCheckRequest is about one device token.
type DeviceCheckRequest struct {
	// Base64 of what generateToken returned to the app; DeviceTokenText makes it of bytes.
	Token string
	// 1 to 64 characters, your own: the key in your log.
	TransactionID string
}

// QueryDeviceBits asks Apple for the two bits of a device, over the network: runner carries out
// a request, as the method Send of a Sender does. offer asks whether an offer that a device
// gets once was used here.
//
// It waits and repeats as Apple allows, a few seconds at most. Needs the block
// `deviceCheck` with its key. Errors are as of ReadDeviceCheckResponse.
func (c *DeviceCheckClient) QueryDeviceBits(
	ctx context.Context, device DeviceCheckRequest, offer bool, runner StepRunner,
	options ...Option,
) (*DeviceCheck, error) {
	request := device.request("query-device-bits")
	request["offer"] = offer
	document, err := c.verifier.runExchange(ctx, request, nil, runner, options)
	return verified[DeviceCheck](document, err, "exchange", "deviceCheck")
}

// UpdateDeviceBits sets the bits of a device; one that is nil stays as it is. Everything else
// is as of QueryDeviceBits.
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

// ValidateDeviceToken has Apple look at a device token alone. Everything else is as of
// QueryDeviceBits.
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

// String does not say the token.
func (d DeviceCheckRequest) String() string { return "device check of " + d.TransactionID }

// GoString is the same.
func (d DeviceCheckRequest) GoString() string { return d.String() }
