package mcp

import (
	"bytes"
	"encoding/json"

	"patchbay/internal/mcp/revision"
)

// Bounds of the extensions that are relayed.
const (
	MaxServerExtensions = 16 << 10 // bytes of a server's
	MaxClientExtensions = 4 << 10  // bytes of a client's, which are a part of session keys and of tasks' ids
	maxExtensionDepth   = 16
)

// Extensions returns the extensions of capabilities with their settings, objects, each in one form: sorted members, no white
// space. Settings that nest too deep are left out. nil: none, or more than maxBytes as sent or as returned. The tasks extension is left out, because
// Patchbay has tasks of its own.
func Extensions(capabilities json.RawMessage, maxBytes int) map[string]json.RawMessage {
	declared := readObject(capabilities).get("extensions")
	if len(declared) == 0 || len(declared) > maxBytes {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(declared))
	dec.UseNumber()
	var settings map[string]any
	if dec.Decode(&settings) != nil {
		return nil
	}
	var all map[string]json.RawMessage
	size := 0
	for name, value := range settings {
		if _, isObject := value.(map[string]any); !isObject || name == revision.TasksExtension || !nestsWithin(value, maxExtensionDepth) {
			continue
		}
		raw := encodeUnescaped(value)
		if size += len(name) + len(raw); size > maxBytes {
			return nil
		}
		if all == nil {
			all = map[string]json.RawMessage{}
		}
		all[name] = raw
	}
	return all
}

// EncodeExtensions encodes extensions as an object in one form.
func EncodeExtensions(all map[string]json.RawMessage) json.RawMessage { return encodeUnescaped(all) }

// encodeUnescaped encodes a decoded JSON value without HTML escapes, so that it does not grow.
func encodeUnescaped(value any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // decoded values always encode
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// nestsWithin reports whether a decoded value has at most this many levels of objects and arrays.
func nestsWithin(value any, levels int) bool {
	var children []any
	switch v := value.(type) {
	case map[string]any:
		for _, child := range v {
			children = append(children, child)
		}
	case []any:
		children = v
	default:
		return true
	}
	for _, child := range children {
		if !nestsWithin(child, levels-1) {
			return false
		}
	}
	return levels > 0
}
