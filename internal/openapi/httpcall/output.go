package httpcall

import "patchbay/internal/jsonschema"

// output is a part of a request. Styles and templates repeat names and values of the arguments: the limit bounds what is written. A text
// that exceeds it is left out.
type output struct {
	text      []byte
	limit     int                 // bytes of text
	full      bool                // a text was left out; no other one is written
	separator string              // between pairs
	escape    func(string) string // nil: none
	name      []byte              // of a pair of style deepObject
}

func (o *output) writeText(texts ...string) {
	for _, text := range texts {
		if o.full = o.full || len(text) > o.limit-len(o.text); o.full {
			return
		}
		o.text = append(o.text, text...)
	}
}

// writeEscaped escapes a text unless it is too long without its escapes.
func (o *output) writeEscaped(text string) {
	if o.escape != nil && !o.full && len(text) <= o.limit-len(o.text) {
		text = o.escape(text)
	}
	o.writeText(text)
}

func (o *output) writeValue(v *jsonschema.Node) {
	if !o.full {
		o.writeEscaped(scalarText(v))
	}
}

// writeMember writes the name of a member, equals and its value.
func (o *output) writeMember(m jsonschema.Member, equals string) {
	o.writeEscaped(m.Name)
	o.writeText(equals)
	o.writeValue(m.Value)
}

// startPair begins another pair.
func (o *output) startPair(name string) {
	if len(o.text) > 0 {
		o.writeText(o.separator)
	}
	o.writeText(name, "=")
}
