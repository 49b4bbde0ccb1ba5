//go:build !assay_gcstress

package libassay

// Stressed says whether every use of a handle collects garbage.
const Stressed = false

func stress() {}
