package toolfmt

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Maximum description lengths, in characters. OpenAI refuses more than 1 024 ("string_above_max_length" at
// tools[…].function.description): some newer models do not, the others refuse the whole request. Anthropic and
// Google publish no limit; theirs keeps one tool from filling a model's context.
const (
	maxOpenAIDescription = 1024
	maxOtherDescription  = 16 << 10
)

// modelDescription returns the tool's description for a model: the server's text, truncated, then more, which
// is never truncated.
func (t Tool) modelDescription(limit int, more ...string) string {
	text := strings.TrimSpace(t.Description)
	if text == "" {
		text = strings.TrimSpace(t.Title)
	}
	var tail []string
	for _, sentence := range append(more, annotationHints(t.Annotations)) {
		if sentence != "" {
			tail = append(tail, truncateText(sentence, limit/4))
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
	return truncateText(text, limit-utf8.RuneCountInString(behind)) + behind
}

// annotationHints describes the tool's annotations in one sentence (MCP 2025-11-25, ToolAnnotations), as a
// provider's request has no field for them. The sentence names the server as the source. Only stated
// annotations count, not the protocol's defaults.
func annotationHints(annotations json.RawMessage) string {
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

// truncateText shortens text to limit characters, at a word's end if one is near, and appends ….
func truncateText(text string, limit int) string {
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
