//go:build assay_gcstress

package libassay

import (
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// Stressed says whether every use of a handle collects garbage.
const Stressed = true

// live are the objects that handles hold.
var live sync.Map

func noteHeld(pointer unsafe.Pointer)     { live.Store(pointer, true) }
func noteReleased(pointer unsafe.Pointer) { live.Delete(pointer) }

// Live is how many objects handles hold.
func Live() (count int) {
	live.Range(func(any, any) bool { count++; return true })
	return count
}

// stress collects garbage while a call has nothing but the object's address, and lets
// the finalizers run. An object that nothing but the call needs would then be freed,
// which ends the process here and not somewhere in freed memory.
func stress(pointer unsafe.Pointer) {
	runtime.GC()
	time.Sleep(20 * time.Microsecond)
	if _, held := live.Load(pointer); !held {
		panic("assay: an object was given back while a call used it")
	}
}
