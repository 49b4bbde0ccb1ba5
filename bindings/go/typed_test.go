package assay

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The typed facts are equal to the JSON: every member that the library writes has a field with
// its value. The comparison uses encoding/json, which is not used for decoding facts.

// checkTyped compares the envelope and the facts of a document with its JSON.
func checkTyped(t *testing.T, document *Document, root any) {
	t.Helper()
	if document.Kind() != Kind(memberAt(root, "kind").(string)) {
		t.Errorf("the kind is %q", document.Kind())
	}
	checkList(t, document.Checks(), memberAt(root, "checks"), "checks")
	checkList(t, document.Warnings(), memberAt(root, "warnings"), "warnings")
	facts, err := document.Facts()
	must(t, err)
	known, typed, err := document.factsKind()
	must(t, err)
	if !typed {
		if facts != nil {
			t.Errorf("facts of a %s", document.Kind())
		}
		return
	}
	value := root
	for _, name := range known.path {
		value = memberAt(value, name)
	}
	if (facts == nil) != (value == nil) {
		t.Errorf("the facts are %v", facts)
	}
	if facts == nil {
		return
	}
	if proofOf(facts) != document {
		t.Error("the facts have another document")
	}
	checkObject(t, reflect.ValueOf(facts).Elem(), value.(map[string]any), string(document.Kind()))
	if finding, ok := facts.(*Triage); ok {
		claimed := memberAt(root, "unverified")
		if (finding.Unverified == nil) != (claimed == nil) {
			t.Errorf("unverified is %v", finding.Unverified)
		} else if claimed != nil {
			checkObject(t, reflect.ValueOf(finding.Unverified).Elem(),
				claimed.(map[string]any), "unverified")
		}
	}
}

func checkList(t *testing.T, list, value any, where string) {
	t.Helper()
	found := reflect.ValueOf(list)
	values, _ := value.([]any)
	if found.Len() != len(values) {
		t.Errorf("%s has %d elements, not %d", where, found.Len(), len(values))
		return
	}
	for i := range values {
		checkValue(t, found.Index(i), values[i], where+"."+strconv.Itoa(i))
	}
}

// checkObject compares a struct with the object that it was read from. Signed JSON may have
// more members than fields: Apple adds some.
func checkObject(t *testing.T, found reflect.Value, object map[string]any, where string) {
	t.Helper()
	fields := map[string]reflect.Value{}
	var payload map[string]any
	var collect func(reflect.Value)
	collect = func(value reflect.Value) {
		for i := 0; i < value.NumField(); i++ {
			each := value.Type().Field(i)
			switch {
			case each.Name == "Claimed":
			case each.Type == reflect.TypeOf(Facts{}):
				payload, _ = object["payload"].(map[string]any)
				text := value.Field(i).Addr().Interface().(*Facts).Payload()
				if payload == nil && len(text) == 0 {
					break
				}
				if !reflect.DeepEqual(parsed(t, string(text)), object["payload"]) {
					t.Errorf("%s.payload is %s", where, text)
				}
			case each.Anonymous:
				collect(value.Field(i))
			case each.Tag.Get("json") != "":
				fields[each.Tag.Get("json")] = value.Field(i)
			}
		}
	}
	collect(found)
	for name, value := range object {
		field, known := fields[name]
		if name == "payload" && payload != nil {
			continue
		}
		if !known {
			t.Errorf("%s.%s has no field", where, name)
			continue
		}
		checkValue(t, field, value, where+"."+name)
	}
	for name, field := range fields {
		if _, there := object[name]; !there && !field.IsZero() {
			t.Errorf("%s.%s is %v without a member", where, name, field)
		}
	}
	checkSigned(t, found, payload, where)
}

// checkSigned compares the fields of the signed JSON.
func checkSigned(t *testing.T, found reflect.Value, payload map[string]any, where string) {
	t.Helper()
	for i := 0; i < found.NumField(); i++ {
		if name := found.Type().Field(i).Tag.Get("signed"); name != "" {
			checkLenient(t, found.Field(i), payload[name], where+".payload."+name)
		}
	}
}

// checkLenient compares a field with a signed value; it is zero if the type differs.
func checkLenient(t *testing.T, field reflect.Value, value any, where string) {
	t.Helper()
	wanted := field.Type()
	if wanted.Kind() == reflect.Ptr {
		wanted = wanted.Elem()
	}
	fits := false
	switch value.(type) {
	case string:
		fits = wanted.Kind() == reflect.String
	case bool:
		fits = wanted.Kind() == reflect.Bool
	case json.Number:
		fits = wanted.Kind() == reflect.Int64 || wanted == timeType
		if number := value.(json.Number); strings.Contains(string(number), ".") {
			// Xcode signs fractions: those of a time are cut off, others are not integers.
			fits, value = wanted == timeType, json.Number(strings.Split(string(number), ".")[0])
		}
	case []any:
		fits = wanted.Kind() == reflect.Slice
	case map[string]any:
		fits = wanted.Kind() == reflect.Struct && wanted != timeType
	}
	if !fits {
		if !field.IsZero() {
			t.Errorf("%s is %v, of %v", where, field, value)
		}
		return
	}
	if object, ok := value.(map[string]any); ok {
		inside := field.Elem()
		for i := 0; i < inside.NumField(); i++ {
			name := inside.Type().Field(i).Tag.Get("json")
			checkLenient(t, inside.Field(i), object[name], where+"."+name)
		}
		return
	}
	if list, ok := value.([]any); ok && field.Type().Elem().Kind() == reflect.Struct {
		for i := 0; i < field.Len(); i++ {
			checkLenient(t, field.Index(i).Addr(), list[i], where)
		}
		return
	}
	checkValue(t, field, value, where)
}

// checkValue compares one field with one value.
func checkValue(t *testing.T, field reflect.Value, value any, where string) {
	t.Helper()
	if value == nil {
		if !field.IsZero() {
			t.Errorf("%s is %v, not null", where, field)
		}
		return
	}
	if raw, ok := field.Interface().(json.RawMessage); ok {
		if !reflect.DeepEqual(parsed(t, string(raw)), value) {
			t.Errorf("%s is %s", where, raw)
		}
		return
	}
	if field.Kind() == reflect.Ptr {
		if field.IsNil() {
			t.Errorf("%s is nil, not %s", where, describe(value))
			return
		}
		field = field.Elem()
	}
	if object, ok := value.(map[string]any); ok && field.Kind() == reflect.Struct {
		checkObject(t, field, object, where)
		return
	}
	if list, ok := value.([]any); ok && field.Kind() == reflect.Slice {
		checkList(t, field.Interface(), list, where)
		return
	}
	if found := plain(field); !reflect.DeepEqual(found, value) && !exempt(field, value, where) {
		t.Errorf("%s is %s, not %s", where, describe(found), describe(value))
	}
}

// exempt reports whether a value has no representation in its field: a challenge that was not
// searched for, and a date beyond 2100, which is written as text.
func exempt(field reflect.Value, value any, where string) bool {
	if !field.IsZero() {
		return false
	}
	return field.Type() == reflect.TypeOf(Challenge{}) && value == "unchecked" ||
		where == "app-receipt.expirationDate" && reflect.TypeOf(value).Kind() == reflect.String
}

// plain returns a field as encoding/json decodes its member.
func plain(field reflect.Value) any {
	switch value := field.Interface().(type) {
	case time.Time:
		return json.Number(strconv.FormatInt(value.UnixMilli(), 10))
	case time.Duration:
		return json.Number(strconv.FormatInt(value.Milliseconds(), 10))
	case []byte:
		return base64.StdEncoding.EncodeToString(value)
	case map[string]string:
		found := map[string]any{}
		for name, text := range value {
			found[name] = text
		}
		return found
	}
	switch field.Kind() {
	case reflect.String:
		return field.String()
	case reflect.Bool:
		return field.Bool()
	case reflect.Int64:
		return json.Number(strconv.FormatInt(field.Int(), 10))
	}
	return field.Interface()
}
