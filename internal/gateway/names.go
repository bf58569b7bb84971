package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// edits say what becomes of the strings at some places of a JSON document. A place is the names of members from the root on, each
// after a dot, and "[]" for the elements of an array: ".contents[].uri". false: the string stays.
type edits map[string]func(string) (string, bool)

// edited is raw with some of its strings replaced. Everything else stays byte for byte.
func edited(raw []byte, e edits) (json.RawMessage, error) {
	d := editor{raw: raw, dec: json.NewDecoder(bytes.NewReader(raw)), edits: e}
	d.dec.UseNumber()
	if err := d.value(""); err != nil {
		return nil, fmt.Errorf("edit JSON: %w", err)
	}
	if d.at == 0 {
		return raw, nil
	}
	return append(d.out, raw[d.at:]...), nil
}

type editor struct {
	raw   []byte
	dec   *json.Decoder
	edits edits
	out   []byte
	at    int // how far raw is in out
}

func (d *editor) value(place string) error {
	before := d.dec.InputOffset()
	token, err := d.dec.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return d.inside(t, place)
	case string:
		return d.text(t, place, int(before), int(d.dec.InputOffset()))
	}
	return nil
}

func (d *editor) inside(opened json.Delim, place string) error {
	for d.dec.More() {
		at := place + "[]"
		if opened == '{' {
			name, err := d.dec.Token()
			if err != nil {
				return err
			}
			at = within(place, name)
		}
		if err := d.value(at); err != nil {
			return err
		}
	}
	_, err := d.dec.Token()
	return err
}

// within is the place of a member. One whose name could be taken for several, as "contents[].uri", is at no place that can be named, and neither
// is what stands in it.
func within(place string, name json.Token) string {
	text, _ := name.(string)
	if strings.ContainsAny(text, ".[") {
		text = "\x00"
	}
	return place + "." + text
}

// text puts another string in the place of the one that ends at end; it begins with the first quote after from.
func (d *editor) text(text, place string, from, end int) error {
	edit := d.edits[place]
	if edit == nil {
		return nil
	}
	next, ok := edit(text)
	if !ok {
		return nil
	}
	quoted, err := quote(next)
	if err != nil {
		return err
	}
	start := from + bytes.IndexByte(d.raw[from:end], '"')
	d.out = append(append(d.out, d.raw[d.at:start]...), quoted...)
	d.at = end
	return nil
}

// quote writes a string as JSON, without the escapes for HTML.
func quote(text string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(text)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
