package access

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// calledTools are the names of a connector's tools towards agents, before the prefix, by the upstream's names; nil: nobody gave another one.
type calledTools map[string]string

func (c calledTools) of(name string) string {
	if c == nil {
		return name
	}
	return c[name]
}

func agentNames(rows []store.AccessTool) calledTools {
	if !slices.ContainsFunc(rows, func(row store.AccessTool) bool { return row.Alias != "" }) {
		return nil
	}
	named := make([]connectors.Named, len(rows))
	for i, row := range rows {
		named[i] = connectors.Named{Name: row.Name, Alias: row.Alias, Removed: row.Removed}
	}
	return connectors.AgentNames(named)
}

// accepted is the definition that was accepted, of which this may be an admin's rewording.
func (d *definition) accepted() *definition { return cmp.Or(d.of, d) }

// curated is a definition under the name, and with the description, that an admin gave it; no text: with its own. All agents that have it
// share it, as they share others.
func (k *Keeper) curated(d *definition, name, text string) *definition {
	raw := reworded(d.raw, name, text)
	hash := connectors.HashDefinition(raw)
	if there := k.definitions.get(hash); there != nil && there.of == d {
		return there
	}
	made := k.definition(hash, raw)
	made.of = d
	if there := k.definitions.put(hash, made); there.of == d {
		return there
	}
	return made // the server itself says the same of another tool
}

// reworded is a definition with another name and, where text is not empty, another description. Every other byte stays.
func reworded(raw []byte, name, text string) []byte {
	type change struct {
		span
		text string
	}
	var changes []change
	described := false
	eachMember(raw, func(member string, value span) {
		switch {
		case member == "name":
			changes = append(changes, change{value, name})
		case member == "description" && text != "":
			changes, described = append(changes, change{value, text}), true
		}
	})
	out, at := make([]byte, 0, len(raw)+len(name)+len(text)+32), 0
	for _, c := range changes {
		out = append(append(out, raw[at:c.from]...), plainQuoted(c.text)...)
		at = c.to
	}
	out = append(out, raw[at:]...)
	if text == "" || described {
		return out
	}
	brace := bytes.IndexByte(out, '{') + 1 // a definition has a name, so that another member follows
	return slices.Insert(out, brace, append(append([]byte(`"description":`), plainQuoted(text)...), ',')...)
}

// plainQuoted writes a text as JSON, without the escapes for HTML.
func plainQuoted(text string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // a string always marshals
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
