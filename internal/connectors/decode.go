package connectors

import (
	"encoding/json"
	"fmt"
	"slices"

	"patchbay/internal/toolchange"
)

// ToolView is a definition taken apart for people: its known fields, each as the upstream spelled it.
type ToolView struct {
	Name         string
	Title        string // may be empty; see DisplayTitle
	Description  string
	InputSchema  json.RawMessage // an object, or nil
	OutputSchema json.RawMessage // an object, or nil
	Annotations  json.RawMessage // an object, or nil
	Icons        json.RawMessage // an array, or nil
	Meta         json.RawMessage // an object, or nil
	Hints        Hints
	Notes        []string // what was left out, and why; one sentence each
}

// Hints are what a tool says of itself in its annotations (MCP 2025-11-25, ToolAnnotations). They are the server's word; nil:
// it does not say.
type Hints struct {
	Title       string
	ReadOnly    *bool
	Destructive *bool
	Idempotent  *bool
	OpenWorld   *bool
}

// DecodeTool takes a definition apart. It does not fail: an optional field of a wrong type is left out, with a note. Names of
// members count exactly as spelled; of two with one name the last counts, as everywhere in JSON.
func DecodeTool(raw []byte) ToolView {
	d := toolDecoder{members: toolchange.Members(raw)}
	v := ToolView{
		Name:         d.text("name"),
		Title:        d.text("title"),
		Description:  d.text("description"),
		InputSchema:  d.value("inputSchema", '{'),
		OutputSchema: d.value("outputSchema", '{'),
		Annotations:  d.value("annotations", '{'),
		Icons:        d.value("icons", '['),
		Meta:         d.value("_meta", '{'),
	}
	a := toolDecoder{members: toolchange.Members(v.Annotations), prefix: "annotations."}
	v.Hints = Hints{
		Title:       a.text("title"),
		ReadOnly:    a.truth("readOnlyHint"),
		Destructive: a.truth("destructiveHint"),
		Idempotent:  a.truth("idempotentHint"),
		OpenWorld:   a.truth("openWorldHint"),
	}
	v.Notes = slices.Concat(d.notes, a.notes)
	if d.members == nil {
		v.Notes = []string{"The definition cannot be read: it is not an object."}
	}
	return v
}

// DisplayTitle is the tool's own title, else that of its annotations; it may be empty.
func (v ToolView) DisplayTitle() string {
	if v.Title != "" {
		return v.Title
	}
	return v.Hints.Title
}

type toolDecoder struct {
	members map[string]json.RawMessage
	prefix  string
	notes   []string
}

func (d *toolDecoder) text(name string) string {
	var s string
	if v, there := d.present(name); there && json.Unmarshal(v, &s) != nil {
		d.drop(name, "a string")
	}
	return s
}

func (d *toolDecoder) truth(name string) *bool {
	v, there := d.present(name)
	if !there {
		return nil
	}
	b := string(v) == "true"
	if !b && string(v) != "false" {
		d.drop(name, "true or false")
		return nil
	}
	return &b
}

// value returns a member that begins with open, '{' or '['.
func (d *toolDecoder) value(name string, open byte) json.RawMessage {
	v, there := d.present(name)
	if there && v[0] != open {
		d.drop(name, map[byte]string{'{': "an object", '[': "an array"}[open])
		return nil
	}
	return v
}

// present returns a member that is there and not null: some servers write null for what they leave out.
func (d *toolDecoder) present(name string) (json.RawMessage, bool) {
	v, there := d.members[name]
	if !there || len(v) == 0 || string(v) == "null" {
		return nil, false
	}
	return v, true
}

func (d *toolDecoder) drop(name, want string) {
	d.notes = append(d.notes, fmt.Sprintf("%s is left out: it is not %s.", d.prefix+name, want))
}
