package assay

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// Facts are decoded into structs by tables. Each struct has one, made from its tags on first
// use. The tag `json` names a member of the library's object, `signed` a member of the signed
// JSON, which is the member "payload".
//
// A member that is absent, null or of another type than declared leaves its field zero; the
// JSON itself is in Raw and Payload.

// A field is one field of a struct and the function that reads its value.
type field struct {
	name   string
	offset uintptr
	read   func(s *scanner, to unsafe.Pointer) bool
}

// A table maps the members of one JSON object to the fields of one struct.
type table struct {
	fields []field
	byName map[string]int
	// signed is the table of the fields that the payload contains; nil if there are none.
	signed *table
	// facts is the offset of the embedded Facts in the struct; -1 if the struct has none.
	facts int
}

var tables sync.Map // reflect.Type -> *table

func tableOf(kind reflect.Type) *table {
	if found, ok := tables.Load(kind); ok {
		return found.(*table)
	}
	made := &table{byName: map[string]int{}, facts: -1}
	signed := &table{byName: map[string]int{}, facts: -1}
	made.addFields(signed, kind, 0)
	if len(signed.fields) > 0 {
		made.signed = signed
	}
	found, _ := tables.LoadOrStore(kind, made)
	return found.(*table)
}

// addFields adds the fields of a struct and of those embedded in it.
func (t *table) addFields(signed *table, kind reflect.Type, offset uintptr) {
	for i := 0; i < kind.NumField(); i++ {
		each := kind.Field(i)
		at := offset + each.Offset
		switch {
		case each.Type == reflect.TypeOf(Facts{}):
			t.facts = int(at)
		case each.Anonymous:
			t.addFields(signed, each.Type, at)
		case each.Tag.Get("json") != "":
			t.add(each.Tag.Get("json"), at, each.Type)
		case each.Tag.Get("signed") != "":
			signed.add(each.Tag.Get("signed"), at, each.Type)
		}
	}
}

func (t *table) add(name string, offset uintptr, kind reflect.Type) {
	t.byName[name] = len(t.fields)
	t.fields = append(t.fields, field{name, offset, readerOf(kind)})
}

// object reads the members of the next object into a struct. The library writes them in the
// order of the fields, so the next field is usually found without comparing names.
func (t *table) object(s *scanner, to unsafe.Pointer) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for next := 0; ; {
		name, ok := s.str()
		if !ok || !s.take(':') {
			return false
		}
		if next >= len(t.fields) || t.fields[next].name != name {
			if at, known := t.byName[name]; known {
				next = at
			} else if !t.other(name, s, to) {
				return false
			} else {
				if !s.take(',') {
					return s.take('}')
				}
				continue
			}
		}
		each := &t.fields[next]
		next++
		if !s.null() && !each.read(s, unsafe.Add(to, each.offset)) {
			return false
		}
		if !s.take(',') {
			return s.take('}')
		}
	}
}

// other skips a member without a field. The payload is kept, and decoded into the fields that
// it has.
func (t *table) other(name string, s *scanner, to unsafe.Pointer) bool {
	if name != "payload" || t.facts < 0 {
		return s.skip()
	}
	text, ok := s.value()
	if !ok {
		return false
	}
	(*Facts)(unsafe.Add(to, t.facts)).payload = text
	if t.signed != nil && strings.HasPrefix(text, "{") {
		inside := scanner{text: text, document: s.document}
		return t.signed.object(&inside, to)
	}
	return true
}

// decode reads the next object into a struct and keeps its JSON text.
func (t *table) decode(s *scanner, to unsafe.Pointer) bool {
	s.peek()
	start := s.at
	if !t.object(s, to) {
		return false
	}
	if t.facts >= 0 {
		found := (*Facts)(unsafe.Add(to, t.facts))
		found.document, found.raw = s.document, s.text[start:s.at]
	}
	return true
}

var (
	timeType     = reflect.TypeOf(time.Time{})
	durationType = reflect.TypeOf(time.Duration(0))
	bytesType    = reflect.TypeOf([]byte(nil))
	rawType      = reflect.TypeOf(json.RawMessage(nil))
)

// readerOf returns the function that reads a value of a type.
func readerOf(kind reflect.Type) func(*scanner, unsafe.Pointer) bool {
	switch {
	case kind == timeType:
		return readTime
	case kind == durationType:
		return readDuration
	case kind == bytesType:
		return readBase64
	case kind == rawType:
		return readRaw
	}
	switch kind.Kind() {
	case reflect.String:
		return readText
	case reflect.Int64:
		return readInteger
	case reflect.Bool:
		return readBoolean
	case reflect.Struct:
		return readObject(kind)
	case reflect.Map:
		return readTexts
	case reflect.Ptr:
		return readPointer(kind.Elem())
	case reflect.Slice:
		return readList(kind)
	}
	panic("assay: no reader for " + kind.String())
}

func readText(s *scanner, to unsafe.Pointer) bool {
	if s.peek() != '"' {
		return s.skip()
	}
	text, ok := s.str()
	*(*string)(to) = text
	return ok
}

func readInteger(s *scanner, to unsafe.Pointer) bool {
	value, found, ok := s.integer()
	if found {
		*(*int64)(to) = value
	}
	return ok
}

func readTime(s *scanner, to unsafe.Pointer) bool {
	value, found, ok := s.milliseconds()
	if found {
		*(*time.Time)(to) = time.UnixMilli(value).UTC()
	}
	return ok
}

func readDuration(s *scanner, to unsafe.Pointer) bool {
	value, found, ok := s.integer()
	if found {
		*(*time.Duration)(to) = milliseconds(value)
	}
	return ok
}

func readBoolean(s *scanner, to unsafe.Pointer) bool {
	*(*bool)(to) = s.peek() == 't'
	return s.skip()
}

func readBase64(s *scanner, to unsafe.Pointer) bool {
	if s.peek() != '"' {
		return s.skip()
	}
	text, ok := s.str()
	if octets, err := base64.StdEncoding.DecodeString(text); err == nil {
		*(*[]byte)(to) = octets
	}
	return ok
}

// readRaw keeps the JSON of a value unchanged.
func readRaw(s *scanner, to unsafe.Pointer) bool {
	text, ok := s.value()
	*(*json.RawMessage)(to) = json.RawMessage(text)
	return ok
}

// readTexts reads an object whose members are strings.
func readTexts(s *scanner, to unsafe.Pointer) bool {
	if s.peek() != '{' {
		return s.skip()
	}
	found := map[string]string{}
	*(*map[string]string)(to) = found
	return s.members(func(name string) bool {
		if s.peek() != '"' {
			return s.skip()
		}
		text, ok := s.str()
		found[name] = text
		return ok
	})
}

func readObject(kind reflect.Type) func(*scanner, unsafe.Pointer) bool {
	var inside *table
	var once sync.Once
	return func(s *scanner, to unsafe.Pointer) bool {
		if s.peek() != '{' {
			return s.skip()
		}
		once.Do(func() { inside = tableOf(kind) })
		return inside.decode(s, to)
	}
}

// readPointer returns the reader of a value that may be absent, and is then nil.
func readPointer(kind reflect.Type) func(*scanner, unsafe.Pointer) bool {
	switch kind.Kind() {
	case reflect.Int64:
		return func(s *scanner, to unsafe.Pointer) bool {
			value, found, ok := s.integer()
			if found {
				*(**int64)(to) = &value
			}
			return ok
		}
	case reflect.Bool:
		return func(s *scanner, to unsafe.Pointer) bool {
			c := s.peek()
			if value := c == 't'; value || c == 'f' {
				*(**bool)(to) = &value
			}
			return s.skip()
		}
	}
	object := readObject(kind)
	return func(s *scanner, to unsafe.Pointer) bool {
		if s.peek() != '{' {
			return s.skip()
		}
		made := reflect.New(kind)
		*(*unsafe.Pointer)(to) = made.UnsafePointer()
		return object(s, made.UnsafePointer())
	}
}

// readList returns the reader of an array, which skips elements of another type.
func readList(kind reflect.Type) func(*scanner, unsafe.Pointer) bool {
	first, read := firstByte(kind.Elem()), readerOf(kind.Elem())
	zero := reflect.Zero(kind.Elem())
	return func(s *scanner, to unsafe.Pointer) bool {
		if s.peek() != '[' {
			return s.skip()
		}
		list := reflect.NewAt(kind, to).Elem()
		return s.elements(func() bool {
			if c := s.peek(); c != first && (first != '0' || c != '-' && (c < '0' || c > '9')) {
				return s.skip()
			}
			list.Set(reflect.Append(list, zero))
			return read(s, list.Index(list.Len()-1).Addr().UnsafePointer())
		})
	}
}

// firstByte returns the first byte of the JSON of a type; '0' for any number.
func firstByte(kind reflect.Type) byte {
	switch kind.Kind() {
	case reflect.String:
		return '"'
	case reflect.Int64:
		return '0'
	}
	return '{'
}

// milliseconds returns a duration, limited to the greatest that the type can hold.
func milliseconds(value int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	switch {
	case value > most:
		value = most
	case value < -most:
		value = -most
	}
	return time.Duration(value) * time.Millisecond
}

// factsAt decodes the object at a path of members of a document, and reports whether it
// exists.
func factsAt(document *Document, to any, path ...string) (bool, error) {
	s := scanner{text: document.json}
	for _, name := range path {
		if s.peek() != '{' || !s.seek(name) {
			return false, nil
		}
	}
	if s.null() {
		return false, nil
	}
	s.document = document
	if s.peek() != '{' || !decode(&s, to) {
		return false, document.unreadable()
	}
	return true, nil
}

// decode reads the next object into the struct that to points to.
func decode(s *scanner, to any) bool {
	value := reflect.ValueOf(to)
	return tableOf(value.Elem().Type()).decode(s, value.UnsafePointer())
}
