//go:build assay_gcstress

package libassay

import "runtime"

// Stressed says whether every use of a handle collects garbage.
const Stressed = true

// stress collects garbage and lets the finalizers run. What a call still needs
// and nothing refers to is then gone before the call, and shows.
func stress() {
	runtime.GC()
	runtime.Gosched()
}
