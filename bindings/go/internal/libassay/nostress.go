//go:build !assay_gcstress

package libassay

import "unsafe"

// Stressed says whether every use of a handle collects garbage.
const Stressed = false

func noteHeld(unsafe.Pointer)     {}
func noteReleased(unsafe.Pointer) {}
func stress(unsafe.Pointer)       {}
