package shell

import (
	"context"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// maxShownArguments bounds the arguments of a prompt on a page.
const maxShownArguments = 20

// NewItemRow shows a prompt, resource or template.
func NewItemRow(ctx context.Context, item connectors.Item) templates.ItemRow {
	v := connectors.DecodeItem(item.Raw)
	about, _, _ := strings.Cut(strings.TrimSpace(v.Description), "\n")
	title := v.Title
	if title == "" && v.Name != item.Key {
		title = v.Name
	}
	row := templates.ItemRow{Key: ShortenText(item.Key, MaxNote), Title: ShortenText(title, MaxName), About: ShortenText(about, MaxNote)}
	if len(v.Arguments) > 0 {
		row.Details = append(row.Details, i18n.T(ctx, "Arguments: %s", argumentNames(ctx, v.Arguments)))
	}
	if v.MIMEType != "" {
		row.Details = append(row.Details, ShortenText(v.MIMEType, MaxName))
	}
	if v.Size != nil && *v.Size >= 0 {
		row.Details = append(row.Details, FormatBytes(ctx, *v.Size))
	}
	return row
}

// argumentNames lists the arguments of a prompt, and says which are optional.
func argumentNames(ctx context.Context, all []connectors.PromptArgument) string {
	var names []string
	for _, a := range all[:min(len(all), maxShownArguments)] {
		name := ShortenText(a.Name, MaxName)
		if !a.Required {
			name = i18n.T(ctx, "%s (optional)", name)
		}
		names = append(names, name)
	}
	if len(all) > maxShownArguments {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
