package mcp

import "patchbay/internal/mcp/wire"

// StringEdits maps paths to edits of strings in a JSON document ([wire.StringEdits]).
type StringEdits = wire.StringEdits

// EditStrings returns raw with some strings replaced ([wire.EditStrings]).
func EditStrings(raw []byte, edits StringEdits) ([]byte, error) { return wire.EditStrings(raw, edits) }
