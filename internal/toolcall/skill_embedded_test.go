package toolcall

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"patchbay/internal/agentview"
)

// TestWithholdSkills_MemoryIsLinear checks long results with one embedded file of a skill, in which only its block is decoded.
func TestWithholdSkills_MemoryIsLinear(t *testing.T) { //nolint:paralleltest // it measures allocations
	const block = `{"type":"resource","resource":{"uri":"skill://a/SKILL.md","text":"evil"}}`
	for name, parts := range map[string][2]string{
		"objects":   {`{"content":[`, `],"x":[` + strings.Repeat(`{"":0},`, 8<<20/7) + `0]}`},
		"blocks":    {`{"content":[` + strings.Repeat(`{"resource":0},`, 8<<20/15), `]}`},
		"resources": {`{"content":[` + strings.Repeat(`{"resource":{"uri":0}},`, 8<<20/23), `]}`},
		"text":      {`{"content":[{"type":"text","text":"` + strings.Repeat(`x`, 8<<20) + `"},`, `]}`},
	} {
		raw := json.RawMessage(parts[0] + block + parts[1])
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := withholdSkills(&agentview.ConnectorView{}, raw, toolBlocks)
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 4*uint64(len(raw)) {
			t.Errorf("%s: %d bytes allocated for %d", name, allocated, len(raw))
		}
		text, found := strings.CutPrefix(string(got), parts[0])
		text, whole := strings.CutSuffix(text, parts[1])
		if !found || !whole || strings.Contains(text, "evil") || !strings.HasPrefix(text, `{"type":"text","text":"This file isn't in a version`) {
			t.Errorf("%s: the block became %.200s", name, text)
		}
	}
}

// TestWithholdSkills_UncheckedIsWithheld checks results that lenient programs read and the scanner does not.
func TestWithholdSkills_UncheckedIsWithheld(t *testing.T) {
	t.Parallel()
	const block = `{"type":"resource","resource":{"uri":"skill://a/SKILL.md","text":"evil"}}`
	for _, before := range []string{"{\"uri\":\"\xff\"}", strings.Repeat("[", 20000) + strings.Repeat("]", 20000)} {
		if got := withholdSkills(&agentview.ConnectorView{}, json.RawMessage(`{"content":[`+before+","+block+"]}"), toolBlocks); strings.Contains(string(got), "evil") || !json.Valid(got) {
			t.Errorf("%.100s: %.300s", before, got)
		}
	}
}

func TestHasFrontmatter_RefusesTags(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"name: a": true, "name: 'a'": true, "name: !!str a": false, "name: !x a": false, "!!str name: a": false, "name: !!binary YQ==": false,
		"name: !!python/object:x a": false, "!!map {name: a}": false, "!x {name: a}": false, "name: &a a": true,
	} {
		if got := hasFrontmatter([]byte("---\n"+text+"\n---\n"), json.RawMessage(`{"name":"a"}`)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for text, want := range map[string]bool{"list: [a]": true, "list: !!seq [a]": false, "list: [!!str a]": false} {
		if got := hasFrontmatter([]byte("---\n"+text+"\n---\n"), json.RawMessage(`{"list":["a"]}`)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
