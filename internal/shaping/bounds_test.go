package shaping_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/shaping"
)

func blocks(n int, text string) json.RawMessage {
	quoted, _ := json.Marshal(text)
	return json.RawMessage(`{"content":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":`+string(quoted)+`},`, n), ",") + `]}`)
}

func TestShapeLeavesTooManyBlocks(t *testing.T) {
	text := strings.Repeat("some words ", 50)
	s, ok := shaping.Rule{Budget: 1000}.Shape(t.Context(), blocks(1000, text), notice)
	if !ok || len(parse(t, s.Raw).Content) != 1002 {
		t.Errorf("1,000 blocks: shaped %v", ok)
	}
	if _, ok := (shaping.Rule{Budget: 1000, Fields: filter(t, ".a")}).Shape(t.Context(), blocks(1001, text), notice); ok {
		t.Error("1,001 blocks are shaped")
	}
}

func TestShapeSharesTheTimeOfTheFilter(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, ok := (shaping.Rule{Fields: filter(t, ".a")}).Shape(ctx, blocks(20, rows(20)), notice); ok {
		t.Errorf("after its end it is shaped: %s", s.Summary())
	}
}

func TestShapeOfManyMembers(t *testing.T) {
	for name, doc := range map[string]string{
		"rows": "[" + strings.Repeat("1,", 150_000) + "1]", "entries": "{" + strings.Repeat(`"a":1,`, 150_000) + `"b":1}`,
	} {
		s, ok := shaping.Rule{Budget: 200}.Shape(t.Context(), textResult(doc, ""), notice)
		if !ok || len(s.Cuts) != 1 || s.Cuts[0].Of != 150_001 || s.Cuts[0].Unit != name || !json.Valid([]byte(parse(t, s.Raw).Content[0].Text)) {
			t.Errorf("%s: shaped %v, %+v", name, ok, s.Cuts)
		}
	}
}

func TestShapeHasNoBudgetLeft(t *testing.T) {
	for _, text := range []string{`{"a":" "}`, `{"a":""}`, `{"a":"some words of a text"}`} {
		s, ok := shaping.Rule{Budget: 200, Fields: filter(t, ".a")}.Shape(t.Context(), blocks(300, text), notice)
		if ok && !json.Valid(s.Raw) {
			t.Errorf("%s: %.200s", text, s.Raw)
		}
	}
}
