package access

import (
	"bytes"
	"encoding/json"
	"sync"
	"sync/atomic"

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

	defect string // why official SDKs refuse it, a sentence; empty: they do not
	modern *form  // as it is listed where raw is not read by all of them; nil: as raw
	legacy *form  // the same for clients of the revisions before 2026-07-28; nil: as modern

	of *definition // the accepted one, where this one is as an admin has it; else nil

	schemas   *schemaCache // that holds what is compiled; nil: it is never dropped
	compiled  atomic.Pointer[schemaEntry]
	compiling sync.Mutex

	sizes sizes
}

// form is one way in which a definition is written.
type form struct {
	raw   []byte
	names []span // of the values of "name"
}

// newForm is raw; nil where that is the text that it would stand in for.
func newForm(raw, other []byte) *form {
	if bytes.Equal(raw, other) {
		return nil
	}
	f := &form{raw: raw}
	eachMember(raw, func(name string, value span) {
		if name == "name" {
			f.names = append(f.names, value)
		}
	})
	return f
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
	d.conform()
	return d
}

// conform finds out how the definition is listed, or why it is not.
func (d *definition) conform() {
	tool := mcp.ConformTool(d.raw)
	if d.defect = tool.Defect; d.defect == "" {
		d.modern, d.legacy = newForm(tool.Raw, d.raw), newForm(tool.Legacy, tool.Raw)
	}
}

// entry is the tool on a list, under another name or, where rename is false, under its own.
func (d *definition) entry(rename bool, name string) entry {
	e := entry{raw: d.raw, values: d.names, name: name, legacy: d.legacy, legacyOnly: d.legacyOnly}
	if d.modern != nil {
		e.raw, e.values = d.modern.raw, d.modern.names
	}
	if !rename {
		e.values, e.name = nil, ""
	}
	return e
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
