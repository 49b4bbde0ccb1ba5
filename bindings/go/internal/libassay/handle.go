// Package libassay calls the C library and owns its handles. Nothing of C is
// seen outside of it.
package libassay

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// closed is the bit of a handle's state that says that it was given up; the bits
// below it count the calls that are using it.
const closed = int64(1) << 62

// A Handle owns one object of the library: a verifier, a document, an exchange.
// It is freed once it is closed and no call uses it any more.
//
// The zero Handle is closed. A Handle must not be copied.
type Handle struct {
	pointer unsafe.Pointer
	free    func(unsafe.Pointer)
	state   atomic.Int64
}

// Hold makes the handle the owner of an object. An empty one is left as it is.
func (h *Handle) Hold(object Object) {
	h.pointer, h.free = object.pointer, object.free
	noteHeld(h.pointer)
}

// An Object is what a call made, and how it is freed. It has an owner only
// when a Handle holds it.
type Object struct {
	pointer unsafe.Pointer
	free    func(unsafe.Pointer)
}

// Empty says whether there is no object.
func (o Object) Empty() bool { return o.pointer == nil }

// use begins a use: the object's address, nil when the handle is closed. Each other
// one is ended by done.
func (h *Handle) use() unsafe.Pointer {
	for {
		state := h.state.Load()
		if state&closed != 0 || h.pointer == nil {
			return nil
		}
		if h.state.CompareAndSwap(state, state+1) {
			pointer := h.pointer
			stress(pointer)
			return pointer
		}
	}
}

// done ends a use. The last one after Close frees the object.
func (h *Handle) done() {
	stress(h.pointer)
	if h.state.Add(-1) == closed {
		h.release()
	}
	runtime.KeepAlive(h)
}

// Open says whether the handle can be used.
func (h *Handle) Open() bool {
	return h.pointer != nil && h.state.Load()&closed == 0
}

// Close frees the object, at once or when the last use of it ends. Closing
// twice is allowed.
func (h *Handle) Close() {
	for {
		state := h.state.Load()
		if state&closed != 0 || h.pointer == nil {
			return
		}
		if h.state.CompareAndSwap(state, state|closed) {
			if state == 0 {
				h.release()
			}
			return
		}
	}
}

func (h *Handle) release() {
	noteReleased(h.pointer)
	h.free(h.pointer)
}
