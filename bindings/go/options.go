package assay

import (
	"context"
	"fmt"
	"time"

	"assay.example/bindings/go/internal/libassay"
)

// An Option changes one call. A call refuses options that it does not support.
type Option struct {
	kind optionKind
	at   int64
	text libassay.Text
}

type optionKind uint8

const (
	optionAt optionKind = 1 << iota
	optionDevice
	optionPublicKey
	optionAccount
)

func (k optionKind) String() string {
	return map[optionKind]string{optionAt: "At", optionDevice: "Device",
		optionPublicKey: "PublicKeyOf", optionAccount: "Account"}[k]
}

// At sets the time of a verification, instead of the system's clock.
func At(now time.Time) Option { return Option{kind: optionAt, at: now.UnixMilli()} }

// Device sets the device that an app receipt must belong to: the 16 bytes of the vendor id
// (iOS) or the 6 bytes of the MAC address (macOS).
func Device(id []byte) Option {
	return Option{kind: optionDevice, text: libassay.GivenBytes(id)}
}

// PublicKeyOf sets the key that an App Attest receipt must be about: the 65 bytes of
// PublicKey.X963 or the 91 of PublicKey.SPKI.
func PublicKeyOf(key []byte) Option {
	return Option{kind: optionPublicKey, text: libassay.GivenBytes(key)}
}

// Account sets the appAccountToken, a UUID, that the evidence of a decision must have.
func Account(token string) Option {
	return Option{kind: optionAccount, text: libassay.Given(token)}
}

// choices are the evaluated options of one call.
type choices struct {
	now              int64
	subject, account libassay.Text
}

// begun checks context and options before a call. Without At the time is now.
func begun(ctx context.Context, options []Option, allowed optionKind) (choices, error) {
	var chosen choices
	if ctx != nil {
		if err := ctx.Err(); err != nil {
			return chosen, err
		}
	}
	timed := false
	for i := range options {
		each := &options[i]
		switch each.kind & (allowed | optionAt) {
		case optionAt:
			chosen.now, timed = each.at, true
		case optionDevice, optionPublicKey:
			chosen.subject = each.text
		case optionAccount:
			chosen.account = each.text
		default:
			return chosen, fmt.Errorf("%w: this call takes no %v", ErrArgument, each.kind)
		}
	}
	if !timed {
		chosen.now = time.Now().UnixMilli()
	}
	return chosen, nil
}
