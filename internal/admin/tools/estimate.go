package tools

import (
	"context"

	"patchbay/internal/i18n"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/web/templates"
)

// EstimateFormats are the providers with token estimates. The first is the default.
var EstimateFormats = []toolfmt.Format{toolfmt.OpenAI, toolfmt.Anthropic, toolfmt.Google}

// ReadProvider returns the format of that name, or the default.
func ReadProvider(name string) toolfmt.Format {
	for _, f := range EstimateFormats {
		if string(f) == name {
			return f
		}
	}
	return EstimateFormats[0]
}

// ProviderName is the name of a format's provider.
func ProviderName(f toolfmt.Format) string {
	switch f {
	case toolfmt.OpenAI:
		return "OpenAI"
	case toolfmt.Anthropic:
		return "Anthropic"
	case toolfmt.Google:
		return "Google"
	default:
		return "MCP"
	}
}

// ProviderOptions are the formats to choose from.
func ProviderOptions(ctx context.Context) []templates.Option {
	var options []templates.Option
	for _, f := range EstimateFormats {
		options = append(options, templates.Option{Value: string(f), Label: i18n.T(ctx, "Context size for %s", ProviderName(f))})
	}
	return options
}

// EstimateText says how exact an estimate of tokens is.
func EstimateText(ctx context.Context, f toolfmt.Format) string {
	margin := i18n.Number(ctx, toolfmt.Margin(f))
	if f == toolfmt.OpenAI {
		return i18n.T(ctx, "Estimated tokens per request to %s, within %s %% per tool (published tokenizer).", ProviderName(f), margin)
	}
	return i18n.T(ctx, "Estimated tokens per request to %s, probably within %s %%: its tokenizer isn't published.", ProviderName(f), margin)
}
