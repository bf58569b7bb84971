package history

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"patchbay/internal/connectors"
)

// cutContent keeps the blocks of a content that fit into the history, in order, and of the first that does not fit the beginning of its
// text. nil: it is no list.
func cutContent(raw []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil
	}
	kept := []byte("[")
	for dec.More() {
		var block json.RawMessage
		if dec.Decode(&block) != nil {
			return nil
		}
		if len(kept)+len(block)+2 > connectors.MaxHistoryBytes {
			kept = appendBlock(kept, cutText(block, connectors.MaxHistoryBytes-len(kept)-2))
			break
		}
		kept = appendBlock(kept, block)
	}
	return append(kept, ']')
}

func appendBlock(to, block []byte) []byte {
	if len(block) == 0 {
		return to
	}
	if len(to) > 1 {
		to = append(to, ',')
	}
	return append(to, block...)
}

// cutText is a text block of at most so many bytes; nil: it is no text, or there is no room.
func cutText(block []byte, room int) []byte {
	var b struct{ Type, Text string }
	if json.Unmarshal(block, &b) != nil || b.Type != "text" {
		return nil
	}
	// A character may need six bytes when it is written.
	for text := b.Text; room > 64 && text != ""; {
		text = text[:min(len(text), room)]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
		written, err := json.Marshal(map[string]string{"type": "text", "text": text})
		if err == nil && len(written) <= room {
			return written
		}
		text = text[:len(text)*9/10]
	}
	return nil
}
