package access

import (
	"bytes"
	"encoding/json"
)

// repeats tells whether an object of a valid JSON text, at any depth, names a member twice.
func repeats(text []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return repeatsNext(dec)
}

func repeatsNext(dec *json.Decoder) bool {
	token, err := dec.Token()
	if err != nil {
		return true // it is nested deeper than anybody reads
	}
	opened, nested := token.(json.Delim)
	if !nested {
		return false
	}
	names := map[json.Token]bool{}
	for dec.More() {
		if opened == '{' {
			name, err := dec.Token()
			if err != nil || names[name] {
				return true
			}
			names[name] = true
		}
		if repeatsNext(dec) {
			return true
		}
	}
	_, err = dec.Token()
	return err != nil
}
