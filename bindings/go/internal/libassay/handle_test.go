package libassay

import (
	"testing"
	"unsafe"
)

// held returns a handle with an object, and the number of times that it was freed.
func held() (*Handle, *int) {
	handle, freed, object := new(Handle), new(int), new(byte)
	handle.Hold(newObject(unsafe.Pointer(object), func(pointer unsafe.Pointer) {
		if pointer == unsafe.Pointer(object) {
			*freed++
		}
	}))
	return handle, freed
}

func TestHandleIsFreedOnce(t *testing.T) {
	handle, freed := held()
	if !handle.Open() || handle.use() == nil {
		t.Error("the handle is not open")
	}
	handle.done()
	if *freed != 0 {
		t.Error("freed while it was open")
	}
	handle.Close()
	handle.Close()
	if *freed != 1 || handle.Open() || handle.use() != nil {
		t.Errorf("freed %d times", *freed)
	}
}

func TestHandleIsFreedWhenItsLastUseEnds(t *testing.T) {
	handle, freed := held()
	handle.use()
	handle.use()
	handle.Close()
	handle.done()
	if *freed != 0 || handle.Open() || handle.use() != nil {
		t.Errorf("freed %d times during a use", *freed)
	}
	handle.done()
	if *freed != 1 {
		t.Errorf("freed %d times", *freed)
	}
}

func TestNoHandle(t *testing.T) {
	handle := new(Handle)
	handle.Close()
	if handle.Open() || handle.use() != nil {
		t.Error("nothing can be used")
	}
}
