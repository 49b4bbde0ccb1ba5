//go:build assay_gcstress

package assay

import (
	"runtime"
	"testing"
	"time"

	"assay.example/bindings/go/internal/libassay"
)

// Asserts that the garbage collector frees exchanges that were never closed.
func TestExchangesThatNobodyKeeps(t *testing.T) {
	each := theCases(t).transcript(t, "a good answer")
	verifier, request := theCases(t).verifier(t, each.Verifier), each.input(t, "request")
	for i := 0; i < 20; i++ { // garbage of other tests
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	before := libassay.Live()
	kept := make([]*Exchange, 200)
	for i := range kept {
		exchange, err := verifier.Exchange(ctx, request, nil)
		must(t, err)
		kept[i] = exchange
	}
	if live := libassay.Live(); live < before+2*len(kept) {
		t.Errorf("%d objects live, after %d", live, before)
	}
	runtime.KeepAlive(kept)
	eventually(t, "the exchanges are given back", func() bool { return libassay.Live() <= before })
}
