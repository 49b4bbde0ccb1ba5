// Package libassay calls the C library and owns its handles. No C type is visible outside of
// it.
package libassay

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// closed is the bit of a handle's state that marks it as closed; the bits below count the
// calls that are using the handle.
const closed = int64(1) << 62

// A Handle owns one object of the library: a verifier, a document, an exchange. The object is
// freed once the handle is closed and no call uses it any more.
//
// The zero Handle is closed. A Handle must not be copied.
type Handle struct {
	pointer unsafe.Pointer
	free    func(unsafe.Pointer)
	state   atomic.Int64
}

// Hold makes the handle the owner of an object. An empty object leaves it closed.
func (h *Handle) Hold(object Object) {
	h.pointer, h.free = object.pointer, object.free
	noteHeld(h.pointer)
}

// An Object is what a call made, with the function that frees it. It has an owner only once a
// Handle holds it.
type Object struct {
	pointer unsafe.Pointer
	free    func(unsafe.Pointer)
}

// Empty reports whether there is no object.
func (o Object) Empty() bool { return o.pointer == nil }

// use begins a use and returns the object's address; nil if the handle is closed. Every use
// with an address ends with done.
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

// Open reports whether the handle can be used.
func (h *Handle) Open() bool {
	return h.pointer != nil && h.state.Load()&closed == 0
}

// Close frees the object, at once or when its last use ends. Closing twice is allowed.
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
