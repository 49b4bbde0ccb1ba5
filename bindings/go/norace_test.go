//go:build !race

package assay

// racing is whether the race detector is on; everything then takes longer.
const racing = false
