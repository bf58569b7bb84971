package admin

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"patchbay/internal/connectors"
	"patchbay/internal/registry"
	"patchbay/internal/toolchange"
	"patchbay/web/templates"
)

// fillChange shows one change with what is different in it.
func fillChange(view *templates.ChangePage, c registry.ShownChange, now time.Time) {
	kinds := c.Kinds
	if len(kinds) == 0 {
		kinds = c.Difference.Kinds
	}
	view.State, view.Kinds, view.Reach = changeState(c.ToolChange), kindBadges(kinds), reachOf(c.ToolChange)
	view.Seen = when(c.SeenAt, now)
	if by := decidedBy(c.ToolChange); by != "" {
		view.Decided = view.State.Text + " " + by
	}
	if c.After != nil {
		view.Hash = c.After.String()
	}
	view.Warning = warningOf(c)
	view.Before, view.After = indent(c.BeforeRaw, onPage.json), indent(c.AfterRaw, onPage.json)
	view.Texts = descriptionChange(c)
	for _, d := range byWeight(c.Difference.Differences) {
		if (d.Path == "description" && d.Kind == toolchange.Text || d.Kind == toolchange.Instructions) && len(view.Texts) > 0 {
			continue // it stands there whole
		}
		view.Rows = append(view.Rows, differenceRow(d))
	}
	if c.Difference.More > 0 {
		view.More = plural(c.Difference.More, "more difference") + "."
	}
}

// byWeight puts what tells most first.
func byWeight(list []toolchange.Difference) []toolchange.Difference {
	order := toolchange.Kinds()
	return slices.SortedStableFunc(slices.Values(list), func(a, b toolchange.Difference) int {
		return slices.Index(order, a.Kind) - slices.Index(order, b.Kind)
	})
}

func differenceRow(d toolchange.Difference) templates.DifferenceRow {
	where := d.Path
	if where == "" {
		where = "the tool"
	}
	return templates.DifferenceRow{
		Path: clean(where), Kind: kindBadge(d.Kind), Sentence: clean(d.Sentence), Before: clean(d.Before), After: clean(d.After),
	}
}

// warningOf says what to look at twice, as long as somebody can decide.
func warningOf(c registry.ShownChange) *templates.Attention {
	if c.State != connectors.ChangeWaiting {
		return nil
	}
	var words []string
	for _, k := range []toolchange.Kind{toolchange.HiddenText, toolchange.InstructionLike, toolchange.Shadows} {
		if c.Difference.Has(k) {
			words = append(words, k.Words())
		}
	}
	if len(words) == 0 {
		return nil
	}
	return &templates.Attention{
		Kind: templates.StateBad, Title: "This may be an attack",
		Text: "Servers that were taken over look like this: " + strings.Join(words, ", ") + ". Ask whoever runs the server before you accept it.",
	}
}

// descriptionChange shows what went from the description, or from the instructions, and what came, word by word.
func descriptionChange(c registry.ShownChange) []templates.TextChange {
	if c.AfterRaw == nil {
		return nil
	}
	read, where := func(raw []byte) string { return connectors.DecodeTool(raw).Description }, "Description"
	if c.Tool == connectors.OfInstructions {
		read, where = connectors.InstructionsIn, "Instructions"
	}
	before, now := "", read(c.AfterRaw)
	if c.BeforeRaw != nil {
		before = read(c.BeforeRaw)
	}
	if before == now {
		return nil
	}
	shown := templates.TextChange{Where: where}
	left := onPage.text
	for _, span := range toolchange.DiffText(before, now) {
		shown.Parts = append(shown.Parts, textParts(string(span.Op), span.Text, &left)...)
	}
	if left <= 0 {
		shown.Parts = append(shown.Parts, templates.TextPart{Op: string(toolchange.Kept), Text: "…"})
	}
	return []templates.TextChange{shown}
}

// textParts splits a text where characters begin that nobody sees, which are shown by their numbers. left is what may still be shown.
func textParts(op, text string, left *int) []templates.TextPart {
	var parts []templates.TextPart
	for text != "" && *left > 0 {
		first, _ := utf8.DecodeRuneInString(text)
		hidden := unseen(first)
		end := strings.IndexFunc(text, func(r rune) bool { return unseen(r) != hidden })
		if end < 0 {
			end = len(text)
		}
		shown := shorten(text[:end], *left)
		*left -= utf8.RuneCountInString(shown)
		parts = append(parts, templates.TextPart{Op: op, Hidden: hidden, Text: shown})
		text = text[end:]
	}
	return parts
}
