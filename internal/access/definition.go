package access

import (
	"bytes"
	"encoding/json"
	"sync"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

// definition is an accepted definition, taken apart once. All agents that have it share it.
type definition struct {
	hash         connectors.Hash
	raw          []byte
	names        []span // of the values of "name": a sloppy server may write it twice
	inputSchema  json.RawMessage
	outputSchema json.RawMessage
	annotations  json.RawMessage
	hints        connectors.Hints
	legacyOnly   bool // its x-mcp-header cannot be obeyed: a modern client must not see it

	of *definition // the accepted one, where this one is as an admin has it; else nil

	compile sync.Once
	schema  *schema // made by compile

	sizes sizes
}

// span is a part of some bytes.
type span struct{ from, to int }

func newDefinition(hash connectors.Hash, raw []byte) *definition {
	v := connectors.DecodeTool(raw)
	d := &definition{hash: hash, raw: raw, hints: v.Hints, legacyOnly: mcp.HeaderDefect(raw) != ""}
	last := map[string]span{} // of two members with one name the last counts
	eachMember(raw, func(name string, value span) {
		if last[name] = value; name == "name" {
			d.names = append(d.names, value)
		}
	})
	part := func(name string, there json.RawMessage) json.RawMessage {
		if there == nil {
			return nil
		}
		s := last[name]
		return raw[s.from:s.to:s.to]
	}
	d.inputSchema = part("inputSchema", v.InputSchema)
	d.outputSchema = part("outputSchema", v.OutputSchema)
	d.annotations = part("annotations", v.Annotations)
	return d
}

// eachMember tells where the values of an object's members stand.
func eachMember(raw []byte, visit func(name string, value span)) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return
	}
	for dec.More() {
		key, err := dec.Token()
		name, isText := key.(string)
		var value json.RawMessage
		if err != nil || !isText || dec.Decode(&value) != nil {
			return
		}
		end := int(dec.InputOffset())
		visit(name, span{from: end - len(value), to: end})
	}
}

// renamed appends raw with other text in the places of some values.
func renamed(to, raw []byte, values []span, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always marshals
	}
	at := 0
	for _, v := range values {
		to = append(append(to, raw[at:v.from]...), quoted...)
		at = v.to
	}
	return append(to, raw[at:]...)
}
