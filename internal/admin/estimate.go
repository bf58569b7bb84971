package admin

import (
	"patchbay/internal/mcp/toolfmt"
	"patchbay/web/templates"
)

// estimates are the providers whose words tools are measured in, the first one where nobody chooses.
var estimates = []toolfmt.Format{toolfmt.OpenAI, toolfmt.Anthropic, toolfmt.Google}

// readProvider is the provider that an address names.
func readProvider(name string) toolfmt.Format {
	for _, f := range estimates {
		if string(f) == name {
			return f
		}
	}
	return estimates[0]
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

func providerOptions() []templates.Option {
	var options []templates.Option
	for _, f := range estimates {
		options = append(options, templates.Option{Value: string(f), Label: "Tokens for " + providerName(f)})
	}
	return options
}

// estimateOf says what a number of tokens is worth.
func estimateOf(f toolfmt.Format) string {
	says := "Tokens are an estimate of what the definitions take of each request to " + providerName(f) + ", "
	margin := "right to within " + number(toolfmt.Margin(f)) + " %"
	if f == toolfmt.OpenAI {
		return says + margin + " for each tool, by its published vocabulary."
	}
	return says + "which publishes no vocabulary: we guess that it is " + margin + "."
}
