//go:build !cgo

package libassay

// The library is linked with cgo. The following name does not exist, so that a build without
// cgo fails with an error that contains it.
var _ = assay_needs_cgo__set_CGO_ENABLED_1_and_install_a_C_compiler
