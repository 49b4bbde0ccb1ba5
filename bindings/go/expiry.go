package assay

import (
	"fmt"
	"math"
	"time"

	"assay.example/bindings/go/internal/libassay"
)

// Forever is an end that never comes, for purchases without one.
var Forever = time.UnixMilli(math.MaxInt64).UTC()

// Dates are what you stored of a purchase. The zero time: there is no such date.
type Dates struct {
	// End of the paid period; Forever: no end.
	Expires time.Time
	// End of the billing grace period.
	Grace time.Time
	// When it was refunded or revoked.
	Revoked time.Time
}

// An Expiry is what CheckExpiry says.
type Expiry struct {
	InForce bool
	// "ok", "rejected.expiry.expired" or "rejected.expiry.revoked".
	Status Status
}

// CheckExpiry says whether dates that you stored earlier are still good. For hot
// paths: no evidence.
//
// In force: not revoked, and now < Expires or now < Grace; without both never. The
// error is ErrMisuse for a now outside 2008 … 2100, ErrArgument for a date whose
// milliseconds do not fit in 64 bits.
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

// storedDate is a date in milliseconds; that of the library where there is none.
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
