package tools

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/toolchange"
	"patchbay/web/templates"
)

// fillChange fills in one change and its differences.
func fillChange(ctx context.Context, view *templates.ChangePage, c manage.ShownChange, now time.Time) {
	kinds := c.Kinds
	if len(kinds) == 0 {
		kinds = c.Difference.Kinds
	}
	view.State, view.Kinds, view.Reach = changeState(ctx, c.ToolChange), kindBadges(ctx, kinds), affectedAgents(ctx, c.ToolChange)
	view.Seen = shell.NewWhen(ctx, c.SeenAt, now)
	if by := decidedBy(ctx, c.ToolChange); by != "" {
		view.Decided = view.State.Text + " " + by
	}
	if c.After != nil {
		view.Hash = c.After.String()
	}
	view.Warning = changeWarning(ctx, c)
	view.Before, view.After = shell.IndentJSON(ctx, c.BeforeRaw, shell.MaxPageJSON), shell.IndentJSON(ctx, c.AfterRaw, shell.MaxPageJSON)
	view.Texts = descriptionChange(ctx, c)
	for _, d := range sortBySignificance(c.Difference.Differences) {
		if (d.Path == "description" && d.Kind == toolchange.Text || d.Kind == toolchange.Instructions) && len(view.Texts) > 0 {
			continue // the row has the whole text
		}
		view.Rows = append(view.Rows, differenceRow(ctx, d))
	}
	if c.Difference.More > 0 {
		view.More = i18n.N(ctx, c.Difference.More, "%s more difference", "%s more differences") + "."
	}
}

// sortBySignificance sorts the most significant differences first.
func sortBySignificance(list []toolchange.Difference) []toolchange.Difference {
	order := toolchange.Kinds()
	return slices.SortedStableFunc(slices.Values(list), func(a, b toolchange.Difference) int {
		return slices.Index(order, a.Kind) - slices.Index(order, b.Kind)
	})
}

func differenceRow(ctx context.Context, d toolchange.Difference) templates.DifferenceRow {
	where := d.Path
	if part, isRequest := strings.CutPrefix(where, "request."); isRequest && requestParts[part] != "" {
		where = i18n.T(ctx, requestParts[part])
	}
	return templates.DifferenceRow{
		Path: shell.CleanText(where), Kind: kindBadge(ctx, d.Kind), Sentence: shell.CleanText(i18n.TranslateKnown(ctx, d.Sentence)), Before: shell.CleanText(plainText(d.Before)), After: shell.CleanText(plainText(d.After)),
	}
}

// requestParts name the parts of a tool's HTTP request.
var requestParts = map[string]i18n.Key{
	"server": "Server", "method": "HTTP method", "path": "Path", "parameters": "Request parameters", "body": "Request body", "accept": "Accepted media type",
	"result": "Result format", "security": "Authentication", "pages": "Pagination", "filter": "jq filter",
}

// hostWarning says that calls of a tool of an HTTP API would go to another host; nil: they would not.
func hostWarning(ctx context.Context, c manage.ShownChange) *templates.Attention {
	for _, d := range c.Difference.Differences {
		before, now := readHost(plainText(d.Before)), readHost(plainText(d.After))
		if d.Kind != toolchange.EndpointChanged || d.Path != "request.server" || before == now {
			continue
		}
		return &templates.Attention{
			Kind: templates.StateBad, Title: i18n.T(ctx, "High risk: calls go to another host"),
			Text: i18n.T(ctx, "From %s to %s. Arguments and the credential go there once you accept.", before, now),
		}
	}
	return nil
}

func readHost(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return shell.CleanText(address)
	}
	return shell.CleanText(u.Host)
}

// changeWarning says what to check, as long as the change can be decided.
func changeWarning(ctx context.Context, c manage.ShownChange) *templates.Attention {
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
		return hostWarning(ctx, c)
	}
	return &templates.Attention{
		Kind: templates.StateBad, Title: i18n.T(ctx, "Possible attack"),
		Text: i18n.T(ctx, "Typical of compromised servers: %s. Ask the server's operator before accepting.", strings.Join(kinds, ", ")),
	}
}

// descriptionChange is a word diff of the description or instructions.
func descriptionChange(ctx context.Context, c manage.ShownChange) []templates.TextChange {
	if c.AfterRaw == nil {
		return nil
	}
	read, where := func(raw []byte) string { return connectors.DecodeTool(raw).Description }, i18n.T(ctx, "Description")
	if c.Tool == connectors.InstructionsTool {
		read, where = connectors.InstructionsIn, i18n.T(ctx, "Instructions")
	}
	if _, isSkill := connectors.SkillOfTool(c.Tool); isSkill {
		read = func(raw []byte) string { return connectors.DecodeSkill(raw).Description() }
	}
	before, now := "", read(c.AfterRaw)
	if c.BeforeRaw != nil {
		before = read(c.BeforeRaw)
	}
	if before == now {
		return nil
	}
	change := templates.TextChange{Where: where}
	remaining := shell.MaxPageText
	for _, span := range toolchange.DiffText(before, now) {
		change.Parts = append(change.Parts, textParts(string(span.Op), span.Text, &remaining)...)
	}
	if remaining <= 0 {
		change.Parts = append(change.Parts, templates.TextPart{Op: string(toolchange.Kept), Text: "…"})
	}
	return []templates.TextChange{change}
}

// textParts splits a text at invisible characters, which are shown by their code points. It counts remaining
// down.
func textParts(op, text string, remaining *int) []templates.TextPart {
	var parts []templates.TextPart
	for text != "" && *remaining > 0 {
		first, _ := utf8.DecodeRuneInString(text)
		hidden := shell.IsInvisible(first)
		end := strings.IndexFunc(text, func(r rune) bool { return shell.IsInvisible(r) != hidden })
		if end < 0 {
			end = len(text)
		}
		visible := shell.ShortenText(text[:end], *remaining)
		*remaining -= utf8.RuneCountInString(visible)
		parts = append(parts, templates.TextPart{Op: op, Hidden: hidden, Text: visible})
		text = text[end:]
	}
	return parts
}

// plainText returns the text of a JSON string, which may be cut; other JSON stays.
func plainText(raw string) string {
	var text string
	if !strings.HasPrefix(raw, `"`) {
		return raw
	}
	if json.Unmarshal([]byte(raw), &text) == nil {
		return text
	}
	cut := strings.TrimSuffix(raw, "…")
	for range 7 { // the longest escape is cut within six characters
		if json.Unmarshal([]byte(cut+`"`), &text) == nil {
			return text + "…"
		}
		cut = cut[:max(1, len(cut)-1)]
	}
	return raw
}
