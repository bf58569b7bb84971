package mcp

import "patchbay/internal/mcp/wire"

// StringEdits maps paths to edits of strings in a JSON document ([wire.StringEdits]).
type StringEdits = wire.StringEdits

// ObjectEdits maps paths to edits of objects in a JSON document ([wire.ObjectEdits]).
type ObjectEdits = wire.ObjectEdits

// EditObjects returns raw with some strings and objects replaced ([wire.EditObjects]).
func EditObjects(raw []byte, edits StringEdits, objects ObjectEdits) ([]byte, error) {
	return wire.EditObjects(raw, edits, objects)
}

// EditStrings returns raw with some strings replaced ([wire.EditStrings]).
func EditStrings(raw []byte, edits StringEdits) ([]byte, error) { return wire.EditStrings(raw, edits) }
