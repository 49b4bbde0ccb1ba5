package assay

import (
	"encoding/json"
	"fmt"
	"sync"

	"assay.example/bindings/go/internal/libassay"
)

// LibraryVersion returns the version of the loaded library; HeaderVersion is the one that this
// package was made for.
func LibraryVersion() string { return libassay.Version() }

// LibraryVersionNumber returns the version as a number: major * 10000 + minor * 100 + patch.
func LibraryVersionNumber() uint32 { return libassay.VersionNumber() }

// HeaderVersion is the version of the header that this package was made for. An older library
// is refused.
const HeaderVersion = libassay.HeaderVersion

// BuildInfo returns JSON about the loaded library: commit, compiler, libcrypto, features.
func BuildInfo() json.RawMessage { return json.RawMessage(libassay.BuildInfo()) }

var library struct {
	once  sync.Once
	fault error
}

// fitting returns an error that is ErrLibrary if this package cannot use the loaded library.
// The library is checked once, at the first use.
func fitting() error {
	library.once.Do(func() {
		library.fault = judged(
			libassay.VersionNumber(), libassay.Version(), libassay.BuildInfo())
	})
	return library.fault
}

// judged returns the error of fitting for a library with this version and build information.
func judged(number uint32, version, buildInfo string) error {
	if number < libassay.HeaderVersionNumber {
		return fmt.Errorf("%w: it is libassay %s, but %s or later is needed",
			ErrLibrary, version, libassay.HeaderVersion)
	}
	var about struct {
		ABI *int `json:"abi"`
	}
	err := json.Unmarshal([]byte(buildInfo), &about)
	if err != nil || about.ABI == nil {
		return fmt.Errorf("%w: its build information names no ABI", ErrLibrary)
	}
	if *about.ABI != libassay.HeaderABI {
		return fmt.Errorf("%w: it has ABI %d, but ABI %d is needed",
			ErrLibrary, *about.ABI, libassay.HeaderABI)
	}
	return nil
}
