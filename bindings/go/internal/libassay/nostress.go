//go:build !assay_gcstress

package libassay

import "unsafe"

// Stressed is whether every use of a handle runs the garbage collector.
const Stressed = false

func noteHeld(unsafe.Pointer)     {}
func noteReleased(unsafe.Pointer) {}
func stress(unsafe.Pointer)       {}
