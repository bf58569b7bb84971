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

func TestShapeOfManyBlocks(t *testing.T) {
	text := strings.Repeat("some words ", 50)
	for n, want := range map[int]string{1000: "", 1001: "1,000 of 1,001 content blocks", 2500: "1,000 of 2,500 content blocks"} {
		raw := blocks(n, text)
		s, ok := shaping.Rule{Budget: 1000, Fields: filter(t, ".a")}.Shape(t.Context(), raw, notice)
		if !ok || len(parse(t, s.Raw).Content) != 1002 || !strings.Contains(s.Summary(), want) {
			t.Errorf("%d blocks: shaped %v, %s", n, ok, s.Summary())
		}
		if got := readAll(t, raw, shaping.ReadRequest{Limit: 60_000, Part: "result"}); got != string(raw) {
			t.Errorf("%d blocks: the reads are not the answer", n)
		}
	}
	if _, ok := (shaping.Rule{Fields: filter(t, ".a")}).Shape(t.Context(), blocks(1001, text), notice); ok {
		t.Error("without a budget, 1,001 blocks are shaped")
	}
}

func TestShapeLeavesOutLinks(t *testing.T) {
	link := `{"type":"resource_link","uri":"file:///notes/` + strings.Repeat("abc/", 100) + `","name":"a"},`
	raw := json.RawMessage(`{"content":[{"type":"text","text":"first"},` + strings.Repeat(link, 500) + `{"type":"text","text":"last"}]}`)
	s, ok := shaping.Rule{Budget: 1000}.Shape(t.Context(), raw, notice)
	r := parse(t, s.Raw)
	if last := len(r.Content) - 3; !ok || s.After > 1200 || last < 3 || r.Content[0].Text != "first" || r.Content[last].Text != "last" || r.Content[1].Type != "resource_link" {
		t.Errorf("shaped %v to %d tokens: %.300s", ok, s.After, s.Raw)
	}
	if !strings.Contains(s.Summary(), " of 500 links") || shaping.Tokens(raw) < 20_000 {
		t.Errorf("from %d tokens: %s", shaping.Tokens(raw), s.Summary())
	}
	if got := readAll(t, raw, shaping.ReadRequest{Part: "499", Limit: 60_000}); got != strings.TrimSuffix(link, ",") {
		t.Errorf("the link is read as %s", got)
	}
	few := json.RawMessage(`{"content":[` + link + `{"type":"text","text":"last"}]}`)
	if _, ok := (shaping.Rule{Budget: 1000}).Shape(t.Context(), few, notice); ok {
		t.Error("one link is shaped")
	}
}

// The form in which a server writes its answer is no way around a budget.
func TestShapeOfUnusualForms(t *testing.T) {
	text, _ := json.Marshal(strings.Repeat("some words ", 2000))
	for name, raw := range map[string]string{
		"a text as structured content": `{"content":[],"structuredContent":` + string(text) + `}`,
		"an escaped name of the text":  `{"content":[{"\u0074ype":"text","\u0074ext":` + string(text) + `}]}`,
		"an escaped name of a member":  `{"\u0063ontent":[{"type":"text","text":` + string(text) + `}]}`,
		"another escaped name":         `{"content":[],"structured\u0043ontent":{"a":` + string(text) + `}}`,
	} {
		s, ok := shaping.Rule{Budget: 500, Fields: filter(t, ".")}.Shape(t.Context(), json.RawMessage(raw), notice)
		if !ok || s.After > 600 || len(s.Raw) > 6000 || len(parse(t, s.Raw).Content) < 2 {
			t.Errorf("%s: shaped %v to %d tokens, %d bytes", name, ok, s.After, len(s.Raw))
		}
		if got := readAll(t, json.RawMessage(raw), shaping.ReadRequest{Part: "result", Limit: 60_000}); got != raw {
			t.Errorf("%s: the reads are not the answer", name)
		}
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
