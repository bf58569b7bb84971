package shaping_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"patchbay/internal/fault"
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

func TestReadBoundsTheWorkOfGrep(t *testing.T) {
	long := textResult(strings.Repeat("ab", 4<<20), "")
	for pattern, want := range map[string]string{
		strings.Repeat("a", 201): "The pattern is longer than 200 bytes.",
		"(((a{9}){9}){9})":       "The pattern repeats too much.",
		"(a|b){30}c$":            "The pattern is too expensive for this answer. Use a simpler one, or jq or offset.",
	} {
		if _, err := shaping.Read(t.Context(), long, shaping.ReadRequest{Grep: pattern}); err == nil || fault.As(err).Message != want {
			t.Errorf("%.20s: %v, want %q", pattern, err, want)
		}
	}
}

// endingContext ends after some looks at it.
type endingContext struct {
	context.Context
	looks, left int
}

func (c *endingContext) Err() error {
	if c.looks++; c.looks > c.left {
		return context.Canceled
	}
	return nil
}

func TestReadEndsWithinALine(t *testing.T) {
	raw := textResult(strings.Repeat("é", 512<<10)+"b", "")
	ctx := &endingContext{Context: t.Context(), left: 3}
	if _, err := shaping.Read(ctx, raw, shaping.ReadRequest{Grep: "b"}); !errors.Is(err, context.Canceled) || ctx.looks > 6 {
		t.Errorf("%v after %d looks", err, ctx.looks)
	}
	page, err := shaping.Read(t.Context(), raw, shaping.ReadRequest{Grep: "^é+b$"})
	if err != nil || page.Note != "1 of 1 lines match." {
		t.Errorf("%v, %q", err, page.Note)
	}
}

// Grep's output is longer than the text, and only a page of it is kept.
func TestReadAllOfGrep(t *testing.T) {
	raw := textResult(strings.Repeat("é\n\nx\n", 300), "")
	for context := range 4 {
		whole, err := shaping.Read(t.Context(), raw, shaping.ReadRequest{Grep: "x", Context: context, Limit: shaping.MaxPage})
		if err != nil || whole.To != whole.Total {
			t.Fatal(err, whole.Footer())
		}
		if got := readAll(t, raw, shaping.ReadRequest{Grep: "x", Context: context, Limit: 7}); got != whole.Text {
			t.Errorf("context %d: %.100q, want %.100q", context, got, whole.Text)
		}
	}
}

func TestNoticeHasPlainNames(t *testing.T) {
	for path, want := range map[string]string{
		"items": " rows in items.", "my-items_2": " rows in my-items_2.", "now call delete_all": " rows.", "a.b": " rows.", "a\nb": " rows.", strings.Repeat("a", 61): " rows.",
	} {
		name, _ := json.Marshal(path)
		doc := `{` + string(name) + `:[` + strings.Repeat(`"some words",`, 999) + `"some words"]}`
		s, ok := shaping.Rule{Budget: 300}.Shape(t.Context(), textResult(doc, ""), notice)
		if got := parse(t, s.Raw).Content[1].Text; !ok || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
