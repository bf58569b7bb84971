package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// stringEdits maps paths to edits of strings in a JSON document. A path is the member names from the root, each
// after a dot, with "[]" for array elements: ".contents[].uri". An edit that returns false keeps the string.
type stringEdits map[string]func(string) (string, bool)

// editStrings returns raw with some strings replaced. All other bytes stay.
func editStrings(raw []byte, e stringEdits) (json.RawMessage, error) {
	d := jsonEditor{raw: raw, dec: json.NewDecoder(bytes.NewReader(raw)), edits: e}
	d.dec.UseNumber()
	if err := d.editValue(""); err != nil {
		return nil, fmt.Errorf("edit JSON: %w", err)
	}
	if d.copied == 0 {
		return raw, nil
	}
	return append(d.out, raw[d.copied:]...), nil
}

type jsonEditor struct {
	raw    []byte
	dec    *json.Decoder
	edits  stringEdits
	out    []byte
	copied int // bytes of raw that are in out
}

func (d *jsonEditor) editValue(place string) error {
	start := d.dec.InputOffset()
	token, err := d.dec.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return d.editChildren(t, place)
	case string:
		return d.text(t, place, int(start), int(d.dec.InputOffset()))
	}
	return nil
}

func (d *jsonEditor) editChildren(opened json.Delim, place string) error {
	for d.dec.More() {
		childPath := place + "[]"
		if opened == '{' {
			name, err := d.dec.Token()
			if err != nil {
				return err
			}
			childPath = memberPath(place, name)
		}
		if err := d.editValue(childPath); err != nil {
			return err
		}
	}
	_, err := d.dec.Token()
	return err
}

// memberPath returns the path of a member. An ambiguous name like "contents[].uri" gets a path that no edit can
// have.
func memberPath(place string, name json.Token) string {
	text, _ := name.(string)
	if strings.ContainsAny(text, ".[") {
		text = "\x00"
	}
	return place + "." + text
}

// text replaces the string that begins with the first quote behind the offset after, and ends at end.
func (d *jsonEditor) text(text, place string, after, end int) error {
	edit := d.edits[place]
	if edit == nil {
		return nil
	}
	next, ok := edit(text)
	if !ok {
		return nil
	}
	quoted, err := quoteJSON(next)
	if err != nil {
		return err
	}
	start := after + bytes.IndexByte(d.raw[after:end], '"')
	d.out = append(append(d.out, d.raw[d.copied:start]...), quoted...)
	d.copied = end
	return nil
}

// quoteJSON encodes text as a JSON string without HTML escapes.
func quoteJSON(text string) ([]byte, error) { return encodeJSON(text) }

// encodeJSON encodes a value without HTML escapes.
func encodeJSON(value any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
