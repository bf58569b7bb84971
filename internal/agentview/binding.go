package agentview

import (
	"bytes"
	"encoding/json"

	"patchbay/internal/toolchange"
)

// cutBinding returns a definition as agents see it, without the HTTP request that a call makes, and that request; nil: the
// tool has none.
func cutBinding(raw []byte) (definition []byte, binding json.RawMessage) {
	if !bytes.Contains(raw, []byte(`"`+toolchange.BindingMember+`"`)) {
		return raw, nil
	}
	var members []byte
	forEachMember(raw, func(name string, value byteRange) {
		if name == toolchange.BindingMember {
			binding = raw[value.start:value.end:value.end]
			return
		}
		quoted, _ := json.Marshal(name) // a string always marshals
		members = append(append(append(append(members, ','), quoted...), ':'), raw[value.start:value.end]...)
	})
	if binding == nil {
		return raw, nil
	}
	return append(append([]byte{'{'}, bytes.TrimPrefix(members, []byte{','})...), '}'), binding
}

// Binding returns the HTTP request that a call makes, for a connector that is an HTTP API; nil: the tool has none.
func (t *Tool) Binding() json.RawMessage {
	if t.def == nil {
		return nil
	}
	return t.def.originalDefinition().binding
}
