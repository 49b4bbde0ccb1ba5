package libassay

// #cgo pkg-config: assay
import "C"
