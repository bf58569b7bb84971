package calllog

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"patchbay/internal/connectors"
)

// truncateContent keeps the first content blocks that fit into the history, and the beginning of the text of
// the next one; nil: not an array.
func truncateContent(raw []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil
	}
	result := []byte("[")
	for dec.More() {
		var block json.RawMessage
		if dec.Decode(&block) != nil {
			return nil
		}
		if len(result)+len(block)+2 > connectors.MaxHistoryBytes {
			result = appendBlock(result, truncateText(block, connectors.MaxHistoryBytes-len(result)-2))
			break
		}
		result = appendBlock(result, block)
	}
	return append(result, ']')
}

func appendBlock(list, block []byte) []byte {
	if len(block) == 0 {
		return list
	}
	if len(list) > 1 {
		list = append(list, ',')
	}
	return append(list, block...)
}

// truncateText shortens a text block to limit bytes; nil: not a text block, or the limit is too small.
func truncateText(block []byte, limit int) []byte {
	var b struct{ Type, Text string }
	if json.Unmarshal(block, &b) != nil || b.Type != "text" {
		return nil
	}
	// An encoded character may need six bytes.
	for text := b.Text; limit > 64 && text != ""; {
		text = text[:min(len(text), limit)]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		written, err := json.Marshal(map[string]string{"type": "text", "text": text})
		if err == nil && len(written) <= limit {
			return written
		}
		text = text[:len(text)*9/10]
	}
	return nil
}
