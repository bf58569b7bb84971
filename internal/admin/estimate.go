package admin

import (
	"context"

	"patchbay/internal/i18n"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/web/templates"
)

// estimateFormats are the providers with token estimates. The first is the default.
var estimateFormats = []toolfmt.Format{toolfmt.OpenAI, toolfmt.Anthropic, toolfmt.Google}

func readProvider(name string) toolfmt.Format {
	for _, f := range estimateFormats {
		if string(f) == name {
			return f
		}
	}
	return estimateFormats[0]
}

func providerName(f toolfmt.Format) string {
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

func providerOptions(ctx context.Context) []templates.Option {
	var options []templates.Option
	for _, f := range estimateFormats {
		options = append(options, templates.Option{Value: string(f), Label: i18n.T(ctx, "Tokens for %s", providerName(f))})
	}
	return options
}

// estimateText says how exact an estimate of tokens is.
func estimateText(ctx context.Context, f toolfmt.Format) string {
	margin := i18n.Number(ctx, toolfmt.Margin(f))
	if f == toolfmt.OpenAI {
		return i18n.T(ctx, "Tokens are an estimate of what the definitions take of each request to %s, right to within %s %% for each tool, by its published vocabulary.", providerName(f), margin)
	}
	return i18n.T(ctx, "Tokens are an estimate of what the definitions take of each request to %s, which publishes no vocabulary: we guess that it is right to within %s %%.", providerName(f), margin)
}
