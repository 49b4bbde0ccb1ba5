//go:build assay_gcstress

package libassay

import (
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// Stressed is whether every use of a handle runs the garbage collector.
const Stressed = true

// live has the objects that handles hold.
var live sync.Map

func noteHeld(pointer unsafe.Pointer)     { live.Store(pointer, true) }
func noteReleased(pointer unsafe.Pointer) { live.Delete(pointer) }

// Live returns the number of objects that handles hold.
func Live() (count int) {
	live.Range(func(any, any) bool { count++; return true })
	return count
}

// stress runs the garbage collector and the finalizers while a call has only the object's
// address. An object that is kept by nothing else would be freed now, which ends the process
// here instead of somewhere in freed memory.
func stress(pointer unsafe.Pointer) {
	runtime.GC()
	time.Sleep(20 * time.Microsecond)
	if _, held := live.Load(pointer); !held {
		panic("assay: an object was given back while a call used it")
	}
}
