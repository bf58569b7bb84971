package ctl

import (
	"bytes"
	"testing"

	"patchbay/client"
)

func TestPrintValue_NotesAreBelowTheTable(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"table": "AGENT\nshared\n\nshared: It ended.\nThe server said:\n  > gone\n  > for good\ufffd\n",
		"json":  "[\n  1\n]\n",
	} {
		var out bytes.Buffer
		s := &session{flags: Flags{Output: format}, world: World{Out: &out}}
		list := newTable("AGENT")
		list.addRow("shared")
		list.notes = append(list.notes, newServerError("shared: It ended.", &client.UpstreamSaid{Said: "gone\nfor good\u202e"}).Error())
		if err := s.printValue([]int{1}, list); err != nil || out.String() != want {
			t.Errorf("%s: %q, %v", format, out.String(), err)
		}
	}
}
