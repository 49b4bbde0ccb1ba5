package assay

import (
	"fmt"
	"math"
	"time"

	"assay.example/bindings/go/internal/libassay"
)

// Forever is the expiry date of a purchase that never ends.
var Forever = time.UnixMilli(math.MaxInt64).UTC()

// Dates are the stored dates of a purchase. The zero time means that there is no such date.
type Dates struct {
	// Expires is the end of the paid period; Forever if there is none.
	Expires time.Time
	// Grace is the end of the billing grace period.
	Grace time.Time
	// Revoked is when the purchase was refunded or revoked.
	Revoked time.Time
}

// An Expiry is the result of CheckExpiry.
type Expiry struct {
	InForce bool
	// Status is "ok", "rejected.expiry.expired" or "rejected.expiry.revoked".
	Status Status
}

// CheckExpiry checks whether a stored purchase is still in force. It is meant for hot paths:
// it needs no evidence.
//
// A purchase is in force if it is not revoked, and now < Expires or now < Grace; never without
// both dates. The error is ErrMisuse for a now outside 2008 … 2100, ErrArgument for a date
// whose milliseconds do not fit in 64 bits.
func CheckExpiry(dates Dates, now time.Time) (Expiry, error) {
	if err := fitting(); err != nil {
		return Expiry{}, err
	}
	var given [3]int64
	for i, date := range [...]time.Time{dates.Expires, dates.Grace, dates.Revoked} {
		var err error
		if given[i], err = storedDate(date); err != nil {
			return Expiry{}, err
		}
	}
	status := Status(libassay.CheckExpiry(given[0], given[1], given[2], now.UnixMilli()))
	switch status.Family() {
	case nil, ErrRejected:
		return Expiry{InForce: status.OK(), Status: status}, nil
	}
	return Expiry{}, refusalOf(status)
}

// storedDate returns a date in milliseconds since 1970 UTC; the library's NoDate for none.
func storedDate(date time.Time) (int64, error) {
	if date.IsZero() {
		return libassay.NoDate, nil
	}
	value := date.UnixMilli()
	if !time.UnixMilli(value).Equal(date.Truncate(time.Millisecond)) || value == libassay.NoDate {
		return 0, fmt.Errorf("%w: a date beyond 64 bits of milliseconds", ErrArgument)
	}
	return value, nil
}
