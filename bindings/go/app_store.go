package assay

import (
	"context"
	"time"
)

// An AppStore calls the App Store Server API. Each of its methods starts an exchange
// (docs/tasks/app-store-server-api.md), which Exchange.Run or your own loop runs. The facts of
// the last document are an *AppStoreResponse. Verifier.AppStore makes an AppStore.
//
// The error of each method is ErrMisuse for members of a wrong form, and ErrConfig if the
// configuration has no block `appStoreServerApi`.
type AppStore struct {
	verifier *Verifier
	asked    AppStoreOptions
}

// AppStoreOptions are the settings that all exchanges of one AppStore share.
type AppStoreOptions struct {
	// Environment is "Production", "Sandbox", or "auto", which asks Production first and
	// Sandbox if Production does not have the object. Empty means Production.
	Environment string
	// BundleID may be empty if the configuration has one app.
	BundleID string
	// Attempts is the number of attempts for each page, 1 to 5; 0 means 3.
	Attempts int64
	// Whether to return the items that verify even if others of the response do not.
	Partial bool
	// Values is "strict" to refuse a value that Apple has not documented; empty: it is sent, with
	// a warning.
	Values string
}

// AppStore returns a client of the App Store Server API with these options.
func (v *Verifier) AppStore(options AppStoreOptions) *AppStore {
	if options.Environment == "" {
		options.Environment = string(Production)
	}
	return &AppStore{v, options}
}

func (s *AppStore) begin(
	ctx context.Context, operation string, members given, pages int64, transaction Evidence,
	options []Option,
) (*Exchange, error) {
	members["operation"] = operation
	members["environment"] = s.asked.Environment
	members.text("bundleId", s.asked.BundleID)
	asked := given{}
	if s.asked.Attempts != 0 {
		asked["attempts"] = s.asked.Attempts
	}
	if s.asked.Partial {
		asked["partial"] = true
	}
	if s.asked.Values != "" {
		asked["values"] = s.asked.Values
	}
	if pages != 0 {
		asked["pages"] = pages
	}
	if len(asked) > 0 {
		members["options"] = asked
	}
	var evidence []Evidence
	if transaction != nil {
		evidence = []Evidence{transaction}
	}
	return s.verifier.Exchange(ctx, members, evidence, options...)
}

func (request given) time(name string, value time.Time) {
	if !value.IsZero() {
		request[name] = value.UnixMilli()
	}
}

func setObject(request given, name string, value map[string]any) {
	if value != nil {
		request[name] = value
	}
}

func setList[T any](request given, name string, values []T) {
	if len(values) > 0 {
		request[name] = values
	}
}

func setPointer[T any](request given, name string, value *T) {
	if value != nil {
		request[name] = *value
	}
}
