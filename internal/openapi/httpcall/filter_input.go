package httpcall

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
)

// decodeFilterInput decodes a document. Its number of values has a bound, because an empty object needs a hundred times its text.
func decodeFilterInput(body []byte) (any, error) {
	if bytes.Count(body, []byte(","))+bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) > maxFilterValues {
		return nil, fault.Errorf(fault.TooLarge, "The response is too large to filter.")
	}
	if !json.Valid(body) {
		return nil, fault.Errorf(fault.Invalid, "The response isn't valid JSON.")
	}
	text := string(body)
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // U+FFFD for each invalid byte
	}
	d := inputDecoder{text: text, names: map[string]string{}}
	input := d.decodeValue()
	if !hasLongNumber(body) {
		return input, nil
	}
	return shortenNumbers(input), nil
}

// inputDecoder decodes a valid document as encoding/json does with numbers as json.Number. It needs half of its time.
type inputDecoder struct {
	text  string
	at    int
	names map[string]string // decoded names of members by their text
}

func (d *inputDecoder) skipSpace() byte {
	for d.text[d.at] <= ' ' {
		d.at++
	}
	return d.text[d.at]
}

// scanString returns the string at this place with its quotes.
func (d *inputDecoder) scanString() string {
	start := d.at
	for d.at++; d.text[d.at] != '"'; d.at++ {
		if d.text[d.at] == '\\' {
			d.at++
		}
	}
	d.at++
	return d.text[start:d.at]
}

func (d *inputDecoder) decodeValue() any {
	switch c := d.skipSpace(); c {
	case '{':
		return d.decodeObject()
	case '[':
		return d.decodeArray()
	case '"':
		return jsonschema.Unquote(d.scanString())
	case 't', 'n':
		d.at += len("true")
		if c == 't' {
			return true
		}
		return nil
	case 'f':
		d.at += len("false")
		return false
	}
	rest := d.text[d.at:]
	end := strings.IndexFunc(rest, func(c rune) bool { return c == ',' || c == ']' || c == '}' || c <= ' ' })
	if end < 0 {
		end = len(rest)
	}
	d.at += end
	return json.Number(rest[:end])
}

func (d *inputDecoder) decodeObject() map[string]any {
	object := map[string]any{}
	for d.at++; d.skipSpace() != '}'; {
		if d.text[d.at] == ',' {
			d.at++
			continue
		}
		quoted := d.scanString()
		name, known := d.names[quoted]
		if !known {
			name = jsonschema.Unquote(quoted)
			d.names[quoted] = name
		}
		d.skipSpace()
		d.at++ // the colon
		object[name] = d.decodeValue()
	}
	d.at++
	return object
}

func (d *inputDecoder) decodeArray() []any {
	array := []any{}
	for d.at++; d.skipSpace() != ']'; {
		if d.text[d.at] == ',' {
			d.at++
			continue
		}
		array = append(array, d.decodeValue())
	}
	d.at++
	return array
}

// hasLongNumber reports whether a document may have a number of more than maxDigits bytes. It is quicker than a walk.
func hasLongNumber(body []byte) bool {
	n := 0
	for _, c := range body {
		switch {
		case c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E':
			n++
		default:
			n = 0
		}
		if n > maxDigits {
			return true
		}
	}
	return false
}

// shortenNumbers makes floats of the long numbers in v: gojq would calculate with all digits.
func shortenNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if len(v) > maxDigits {
			f, _ := v.Float64() // out of range: infinite, which is written as the largest float
			return f
		}
	case []any:
		for i := range v {
			v[i] = shortenNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = shortenNumbers(v[name])
		}
	}
	return v
}
