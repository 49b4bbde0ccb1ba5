package assay

import (
	"context"
	"time"
)

// An AppStore is the App Store Server API: each of its methods begins an exchange
// (docs/tasks/app-store-server-api.md), for Exchange.Run or your own driver. The facts of
// the last document are an *AppStoreResponse. Made by Verifier.AppStore.
//
// The error is ErrMisuse for members of a wrong form, ErrConfig without the block
// `appStoreServerApi`.
type AppStore struct {
	verifier *Verifier
	asked    AppStoreOptions
}

// AppStoreOptions are what all exchanges of an AppStore have in common.
type AppStoreOptions struct {
	// "Production", "Sandbox", or "auto": Production, then Sandbox where Production does
	// not have it. Empty: Production.
	Environment string
	// May be empty where one app is configured.
	BundleID string
	// For each page, 1 to 5; 0: 3.
	Attempts int64
	// What verifies is handed out beside what does not.
	Partial bool
}

// AppStore is the App Store Server API.
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
