package admin

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"patchbay/internal/connectors"
	"patchbay/internal/registry"
	"patchbay/internal/toolchange"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// fillChange shows one change with what is different in it.
func fillChange(ctx context.Context, view *templates.ChangePage, c registry.ShownChange, now time.Time) {
	kinds := c.Kinds
	if len(kinds) == 0 {
		kinds = c.Difference.Kinds
	}
	view.State, view.Kinds, view.Reach = changeState(ctx, c.ToolChange), kindBadges(ctx, kinds), reachOf(ctx, c.ToolChange)
	view.Seen = when(ctx, c.SeenAt, now)
	if by := decidedBy(ctx, c.ToolChange); by != "" {
		view.Decided = view.State.Text + " " + by
	}
	if c.After != nil {
		view.Hash = c.After.String()
	}
	view.Warning = warningOf(ctx, c)
	view.Before, view.After = indent(ctx, c.BeforeRaw, onPage.json), indent(ctx, c.AfterRaw, onPage.json)
	view.Texts = descriptionChange(ctx, c)
	for _, d := range byWeight(c.Difference.Differences) {
		if (d.Path == "description" && d.Kind == toolchange.Text || d.Kind == toolchange.Instructions) && len(view.Texts) > 0 {
			continue // it stands there whole
		}
		view.Rows = append(view.Rows, differenceRow(ctx, d))
	}
	if c.Difference.More > 0 {
		view.More = words.N(ctx, c.Difference.More, "%s more difference", "%s more differences") + "."
	}
}

// byWeight puts what tells most first.
func byWeight(list []toolchange.Difference) []toolchange.Difference {
	order := toolchange.Kinds()
	return slices.SortedStableFunc(slices.Values(list), func(a, b toolchange.Difference) int {
		return slices.Index(order, a.Kind) - slices.Index(order, b.Kind)
	})
}

func differenceRow(ctx context.Context, d toolchange.Difference) templates.DifferenceRow {
	where := d.Path
	if where == "" {
		where = words.T(ctx, "the tool")
	}
	return templates.DifferenceRow{
		Path: clean(where), Kind: kindBadge(ctx, d.Kind), Sentence: clean(words.Said(ctx, d.Sentence)), Before: clean(d.Before), After: clean(d.After),
	}
}

// warningOf says what to look at twice, as long as somebody can decide.
func warningOf(ctx context.Context, c registry.ShownChange) *templates.Attention {
	if c.State != connectors.ChangeWaiting {
		return nil
	}
	var kinds []string
	for _, k := range []toolchange.Kind{toolchange.HiddenText, toolchange.InstructionLike, toolchange.Shadows} {
		if c.Difference.Has(k) {
			kinds = append(kinds, changeName(ctx, k))
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	return &templates.Attention{
		Kind: templates.StateBad, Title: words.T(ctx, "This may be an attack"),
		Text: words.T(ctx, "Servers that were taken over look like this: %s. Ask whoever runs the server before you accept it.", strings.Join(kinds, ", ")),
	}
}

// descriptionChange shows what went from the description, or from the instructions, and what came, word by word.
func descriptionChange(ctx context.Context, c registry.ShownChange) []templates.TextChange {
	if c.AfterRaw == nil {
		return nil
	}
	read, where := func(raw []byte) string { return connectors.DecodeTool(raw).Description }, words.T(ctx, "Description")
	if c.Tool == connectors.OfInstructions {
		read, where = connectors.InstructionsIn, words.T(ctx, "Instructions")
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
