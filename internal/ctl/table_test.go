package ctl

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Servers' texts are printed to a terminal.
func TestTable_EscapesTerminalControls(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b[31mb\rc\u202ed\u009be\u200bf\x7fg\U000e0041h\nrow"
	for _, format := range []string{"table", "json"} {
		var out bytes.Buffer
		s := &session{flags: Flags{Output: format}, world: World{Out: &out}}
		table := newTable("TEXT")
		table.addRow(hostile)
		if err := s.printValue(map[string]string{"text": hostile}, table); err != nil {
			t.Fatal(err)
		}
		if shown := out.String(); strings.ContainsAny(shown, "\x1b\r\u202e\u009b\u200b\x7f\U000e0041") {
			t.Errorf("%s: %q", format, shown)
		}
		if format == "json" {
			var back map[string]string
			if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["text"] != hostile {
				t.Errorf("%q, %v", back, err)
			}
		} else if rows := strings.Count(out.String(), "\n"); rows != 2 {
			t.Errorf("%d lines: %q", rows, out.String())
		}
	}
}
