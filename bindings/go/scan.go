package assay

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// errDocument is the error of a document that is not the expected JSON, which is a bug of the
// library or of this package.
var errDocument = errors.New("assay: a document of the library cannot be read")

// maxDepth is greater than the nesting of any document; the library's own reader allows 32.
const maxDepth = 64

// A scanner reads the JSON of a document. The library writes well-formed JSON; any other input
// ends in errDocument, never in a panic.
type scanner struct {
	text     string
	at       int
	document *Document // the owner of the text, for the facts decoded from it
}

// space skips white space, which only signed JSON contains.
func (s *scanner) space() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek returns the first byte of the next token; 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.text) && s.text[s.at] > ' ' {
		return s.text[s.at]
	}
	s.space()
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// take skips one byte, which must be the next.
func (s *scanner) take(wanted byte) bool {
	if s.peek() != wanted {
		return false
	}
	s.at++
	return true
}

// quoted returns the text between the next quotes, with its escapes unchanged.
func (s *scanner) quoted() (inside string, escaped, ok bool) {
	if !s.take('"') {
		return "", false, false
	}
	start := s.at
	for s.at < len(s.text) {
		end := strings.IndexByte(s.text[s.at:], '"')
		if end < 0 {
			break
		}
		end += s.at
		if strings.IndexByte(s.text[s.at:end], '\\') < 0 {
			s.at = end + 1
			return s.text[start:end], escaped, true
		}
		escaped = true
		end, ok = s.escapesUntilQuote()
		if !ok {
			break
		}
		s.at = end + 1
		return s.text[start:end], true, true
	}
	s.at = len(s.text)
	return "", false, false
}

// escapesUntilQuote returns the index of the closing quote, found byte by byte.
func (s *scanner) escapesUntilQuote() (int, bool) {
	for at := s.at; at < len(s.text); at++ {
		switch s.text[at] {
		case '\\':
			at++
		case '"':
			return at, true
		}
	}
	return 0, false
}

// str returns the next string; ok is false if the next value is none.
func (s *scanner) str() (string, bool) {
	inside, escaped, ok := s.quoted()
	if !ok || !escaped {
		return inside, ok
	}
	var text string
	if json.Unmarshal([]byte(`"`+inside+`"`), &text) != nil {
		return "", false
	}
	return text, true
}

// number returns the text of the next number.
func (s *scanner) number() string {
	s.peek()
	start := s.at
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			s.at++
		default:
			return s.text[start:s.at]
		}
	}
	return s.text[start:s.at]
}

// skip skips the next value.
func (s *scanner) skip() bool { return s.skipWithin(maxDepth) }

func (s *scanner) skipWithin(depth int) bool {
	switch c := s.peek(); c {
	case '"':
		_, _, ok := s.quoted()
		return ok
	case '{', '[':
		return depth > 0 && s.skipContainer(c, depth-1)
	default:
		return s.scalar()
	}
}

// skipContainer skips an object or array whose first byte is next.
func (s *scanner) skipContainer(opening byte, depth int) bool {
	s.at++
	closing := opening + 2 // in ASCII they are two apart
	if s.take(closing) {
		return true
	}
	for {
		if opening == '{' {
			if _, _, ok := s.quoted(); !ok || !s.take(':') {
				return false
			}
		}
		if !s.skipWithin(depth) {
			return false
		}
		if !s.take(',') {
			return s.take(closing)
		}
	}
}

// scalar skips a number, true, false or null.
func (s *scanner) scalar() bool {
	start := s.at
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return s.at > start
		}
		s.at++
	}
	return s.at > start
}

// value returns the text of the next value.
func (s *scanner) value() (string, bool) {
	s.peek()
	start := s.at
	if !s.skip() {
		return "", false
	}
	return s.text[start:s.at], true
}

// null skips null, and reports whether it was next.
func (s *scanner) null() bool {
	if s.peek() == 'n' && strings.HasPrefix(s.text[s.at:], "null") {
		s.at += 4
		return true
	}
	return false
}

// members calls visit with each name of the next object; visit must consume the value.
func (s *scanner) members(visit func(name string) bool) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		name, ok := s.str()
		if !ok || !s.take(':') || !visit(name) {
			return false
		}
		if !s.take(',') {
			return s.take('}')
		}
	}
}

// seek goes to the value of a member of the next object, and reports whether it exists.
func (s *scanner) seek(wanted string) bool {
	if !s.take('{') {
		return false
	}
	for {
		name, ok := s.str()
		if !ok || !s.take(':') {
			return false
		}
		if name == wanted {
			return true
		}
		if !s.skip() || !s.take(',') {
			return false
		}
	}
}

// elements calls visit for each value of the next array.
func (s *scanner) elements(visit func() bool) bool {
	if !s.take('[') {
		return false
	}
	if s.take(']') {
		return true
	}
	for visit() {
		if !s.take(',') {
			return s.take(']')
		}
	}
	return false
}

// integer reads an integer, as a number or as a string, which the library writes beyond 2^53.
func (s *scanner) integer() (value int64, found, ok bool) {
	switch c := s.peek(); {
	case c == '-' || c >= '0' && c <= '9':
		value, found = wholeNumber(s.number())
		return value, found, true
	case c == '"':
		text, ok := s.str()
		if !ok {
			return 0, false, false
		}
		value, found = wholeNumber(text)
		return value, found, true
	default:
		return 0, false, s.skip()
	}
}

// milliseconds reads a time. Fractions of a millisecond, which Xcode signs, are cut off.
func (s *scanner) milliseconds() (value int64, found, ok bool) {
	c := s.peek()
	if c != '-' && (c < '0' || c > '9') {
		return 0, false, s.skip()
	}
	number := s.number()
	if value, found = wholeNumber(number); found {
		return value, true, true
	}
	fraction, err := strconv.ParseFloat(number, 64)
	if err != nil || math.Abs(fraction) >= 1<<53 {
		return 0, false, true
	}
	return int64(fraction), true, true
}

// wholeNumber parses decimal digits with an optional minus sign.
func wholeNumber(text string) (int64, bool) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || len(digits) > 19 {
		return 0, false
	}
	value := int64(0)
	for i := 0; i < len(digits); i++ {
		digit := int64(digits[i]) - '0'
		if digit < 0 || digit > 9 || value > (math.MaxInt64-digit)/10 {
			return 0, false
		}
		value = value*10 + digit
	}
	if len(digits) != len(text) {
		value = -value
	}
	return value, true
}
