//go:build !assay_shared

package libassay

// The module of a release has the header and, for each processor, the library as an archive.
// With the tag assay_shared it links the library that pkg-config finds, as in the repository.

// #cgo CFLAGS: -I${SRCDIR}
// #cgo linux,amd64 LDFLAGS: ${SRCDIR}/libassay_amd64.a -lm
// #cgo linux,arm64 LDFLAGS: ${SRCDIR}/libassay_arm64.a -lm
import "C"
