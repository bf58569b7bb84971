package agentview

import (
	"bytes"
	"encoding/json"
	"sync"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
)

// definition is a parsed accepted definition, shared by all agents that have it.
type definition struct {
	hash         connectors.Hash
	raw          []byte
	names        []byteRange     // ranges of the values of "name"; a server may write it twice
	binding      json.RawMessage // of an HTTP API; nil: none
	inputSchema  json.RawMessage
	outputSchema json.RawMessage
	annotations  json.RawMessage
	hints        connectors.Hints
	taskSupport  string // execution.taskSupport; empty: none
	app          appMeta
	legacyOnly   bool // its x-mcp-header is invalid, so modern clients must not see it

	defect string             // why official SDKs reject it, one sentence; empty: valid
	modern *definitionVariant // served instead of raw where SDKs need another form; nil: raw
	legacy *definitionVariant // the same for revisions before 2026-07-28; nil: modern

	taskOnce sync.Once
	task     *definitionVariant // legacy, with calls as tasks; nil until taskOnce

	original *definition // the accepted definition that this one rewrites; nil: none

	schemas  *schemaCache // accounts for compiled; nil: compiled is never dropped
	compiled [schemaParts]schemaSlot

	sizes sizeCache
}

// definitionVariant is one serialization of a definition.
type definitionVariant struct {
	raw   []byte
	names []byteRange // ranges of the values of "name"
	links []uiLink
}

// newVariant returns nil if raw equals other.
func newVariant(raw, other []byte) *definitionVariant {
	if bytes.Equal(raw, other) {
		return nil
	}
	f := &definitionVariant{raw: raw}
	forEachMember(raw, func(name string, value byteRange) {
		switch name {
		case "name":
			f.names = append(f.names, value)
		case "_meta":
			links := readAppMeta(raw[value.start:value.end], value.start).links
			f.links = append(f.links, links[:min(len(links), maxUILinks-len(f.links))]...)
		}
	})
	return f
}

// byteRange is a half-open range of a byte slice.
type byteRange struct{ start, end int }

func newDefinition(hash connectors.Hash, raw []byte) *definition {
	raw, binding := cutBinding(raw)
	v := connectors.DecodeTool(raw)
	d := &definition{hash: hash, raw: raw, binding: binding, hints: v.Hints, legacyOnly: mcp.HeaderDefect(raw) != "", app: appMeta{forApps: true}}
	last := map[string]byteRange{} // the last of two members with one name counts
	forEachMember(raw, func(name string, value byteRange) {
		if last[name] = value; name == "name" {
			d.names = append(d.names, value)
		}
	})
	part := func(name string, value json.RawMessage) json.RawMessage {
		if value == nil {
			return nil
		}
		s := last[name]
		return raw[s.start:s.end:s.end]
	}
	d.inputSchema = part("inputSchema", v.InputSchema)
	d.outputSchema = part("outputSchema", v.OutputSchema)
	d.annotations = part("annotations", v.Annotations)
	if execution, ok := last["execution"]; ok {
		d.taskSupport = readTaskSupport(raw[execution.start:execution.end])
	}
	if meta, ok := last["_meta"]; ok {
		d.app = readAppMeta(raw[meta.start:meta.end], meta.start)
	}
	d.buildVariants()
	return d
}

// buildVariants sets defect, or the variants for modern and legacy clients.
func (d *definition) buildVariants() {
	tool := mcp.NormalizeTool(d.raw)
	if d.defect = tool.Defect; d.defect == "" {
		modern := withTaskSupport(tool.Raw, "")
		d.modern, d.legacy = newVariant(modern, d.raw), newVariant(withTaskSupport(tool.Legacy, ""), modern)
	}
}

// legacyVariant returns the legacy variant; nil: the modern one. Where calls can be tasks, it says so.
func (d *definition) legacyVariant(offersTasks bool) *definitionVariant {
	if !offersTasks {
		return d.legacy
	}
	d.taskOnce.Do(func() {
		raw := d.raw
		switch {
		case d.legacy != nil:
			raw = d.legacy.raw
		case d.modern != nil:
			raw = d.modern.raw
		}
		d.task = newVariant(withTaskSupport(raw, TaskOptional), raw)
	})
	return d.task
}

// newListEntry returns the list entry of the tool, under name if it is not empty, else under its own. offersTasks: its
// calls can be tasks.
func (d *definition) newListEntry(name string, offersTasks bool) listEntry {
	e := listEntry{
		raw: d.raw, values: d.names, links: d.app.links, name: name,
		legacy: d.legacyVariant(offersTasks), legacyOnly: d.legacyOnly, offersTasks: offersTasks,
	}
	if d.modern != nil {
		e.raw, e.values, e.links = d.modern.raw, d.modern.names, d.modern.links
	}
	if name == "" {
		e.values = nil
	}
	return e
}

// forEachMember calls yield with the name and the value range of each member of a JSON object.
func forEachMember(raw []byte, yield func(name string, value byteRange)) {
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
		yield(name, byteRange{start: end - len(value), end: end})
	}
}

// appendRenamed appends raw with each range of values replaced by text.
func appendRenamed(to, raw []byte, values []byteRange, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always marshals
	}
	pos := 0
	for _, v := range values {
		to = append(append(to, raw[pos:v.start]...), quoted...)
		pos = v.end
	}
	return append(to, raw[pos:]...)
}
