package toolfmt

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The longest descriptions, in characters. OpenAI refuses more than 1 024 ("string_above_max_length" at
// tools[…].function.description); some of its models have stopped to, and the others refuse the whole request. Anthropic
// and Google publish no limit: theirs keeps one tool from filling a model's context.
const (
	openAIDescription = 1024
	otherDescription  = 16 << 10
)

// describe is the tool's description for a model: the server's text, cut where it is too long, and behind it what else is
// to be said, which is never cut away.
func (t Tool) describe(limit int, more ...string) string {
	text := strings.TrimSpace(t.Description)
	if text == "" {
		text = strings.TrimSpace(t.Title)
	}
	var tail []string
	for _, sentence := range append(more, hints(t.Annotations)) {
		if sentence != "" {
			tail = append(tail, cut(sentence, limit/4))
		}
	}
	if text == "" && tail == nil {
		return t.Name // Google requires a description
	}
	behind := strings.Join(tail, " ")
	if text == "" {
		return behind
	}
	if behind != "" {
		behind = " " + behind
	}
	return cut(text, limit-utf8.RuneCountInString(behind)) + behind
}

// hints says in one sentence what the server says of the tool in its annotations (MCP 2025-11-25, ToolAnnotations): a
// provider's request has no place for them. They are the server's word, and the sentence says so. Only what a server
// states counts, not the protocol's default for what it leaves out.
func hints(annotations json.RawMessage) string {
	var a map[string]json.RawMessage
	if json.Unmarshal(annotations, &a) != nil {
		return ""
	}
	says := func(hint string) bool { return string(a[hint]) == "true" }
	var words []string
	switch {
	case says("readOnlyHint"):
		words = append(words, "read-only")
	case says("destructiveHint"):
		words = append(words, "destructive")
	}
	if says("openWorldHint") {
		words = append(words, "open-world")
	}
	if words == nil {
		return ""
	}
	return "(Its server says that this tool is " + strings.Join(words, " and ") + ".)"
}

// cut shortens text to limit characters, at the end of a word where one is near, with … for the rest.
func cut(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	if limit <= 1 {
		return "…"[:len("…")*max(limit, 0)]
	}
	end := 0
	for range limit - 1 {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	next, _ := utf8.DecodeRuneInString(text[end:])
	short := text[:end]
	if !unicode.IsSpace(next) {
		if word := strings.LastIndexFunc(short, unicode.IsSpace); word > len(short)/2 {
			short = short[:word]
		}
	}
	return strings.TrimRightFunc(short, unicode.IsSpace) + "…"
}
