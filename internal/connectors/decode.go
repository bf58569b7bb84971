package connectors

import (
	"encoding/json"
	"fmt"
	"slices"

	"patchbay/internal/toolchange"
)

// ToolView is a parsed definition for display: known fields, each as the upstream spelled it.
type ToolView struct {
	Name         string
	Title        string // optional; see DisplayTitle
	Description  string
	InputSchema  json.RawMessage // an object, or nil
	OutputSchema json.RawMessage // an object, or nil
	Annotations  json.RawMessage // an object, or nil
	Icons        json.RawMessage // an array, or nil
	Meta         json.RawMessage // an object, or nil
	Hints        Hints
	Notes        []string // what was dropped and why, one sentence each
}

// Hints are a tool's annotations as stated by the server (MCP 2025-11-25, ToolAnnotations); nil: not stated.
type Hints struct {
	Title       string
	ReadOnly    *bool
	Destructive *bool
	Idempotent  *bool
	OpenWorld   *bool
}

// DecodeTool parses a definition. It does not fail: an optional field of a wrong type is dropped with a note.
// Member names are case-sensitive; the last of a repeated name counts.
func DecodeTool(raw []byte) ToolView {
	d := toolDecoder{members: toolchange.Members(raw)}
	v := ToolView{
		Name:         d.readString("name"),
		Title:        d.readString("title"),
		Description:  d.readString("description"),
		InputSchema:  d.readJSON("inputSchema", '{'),
		OutputSchema: d.readJSON("outputSchema", '{'),
		Annotations:  d.readJSON("annotations", '{'),
		Icons:        d.readJSON("icons", '['),
		Meta:         d.readJSON("_meta", '{'),
	}
	a := toolDecoder{members: toolchange.Members(v.Annotations), prefix: "annotations."}
	v.Hints = Hints{
		Title:       a.readString("title"),
		ReadOnly:    a.readBool("readOnlyHint"),
		Destructive: a.readBool("destructiveHint"),
		Idempotent:  a.readBool("idempotentHint"),
		OpenWorld:   a.readBool("openWorldHint"),
	}
	v.Notes = slices.Concat(d.notes, a.notes)
	if d.members == nil {
		v.Notes = []string{"The definition isn't an object."}
	}
	return v
}

// DisplayTitle returns the tool's title, else the annotations'; may be empty.
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

func (d *toolDecoder) readString(name string) string {
	var s string
	if v, there := d.findMember(name); there && json.Unmarshal(v, &s) != nil {
		d.dropField(name, "a string")
	}
	return s
}

func (d *toolDecoder) readBool(name string) *bool {
	v, there := d.findMember(name)
	if !there {
		return nil
	}
	b := string(v) == "true"
	if !b && string(v) != "false" {
		d.dropField(name, "true or false")
		return nil
	}
	return &b
}

// readJSON returns a member that begins with open, '{' or '['.
func (d *toolDecoder) readJSON(name string, open byte) json.RawMessage {
	v, there := d.findMember(name)
	if there && v[0] != open {
		d.dropField(name, map[byte]string{'{': "an object", '[': "an array"}[open])
		return nil
	}
	return v
}

// findMember returns a member that is not null: some servers write null for absent ones.
func (d *toolDecoder) findMember(name string) (json.RawMessage, bool) {
	v, there := d.members[name]
	if !there || len(v) == 0 || string(v) == "null" {
		return nil, false
	}
	return v, true
}

func (d *toolDecoder) dropField(name, want string) {
	d.notes = append(d.notes, fmt.Sprintf("%s ignored: not %s.", d.prefix+name, want))
}
