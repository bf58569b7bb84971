package shell

import (
	"context"
	"net/url"
	"strconv"

	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// EnabledFlash says that something was enabled or disabled. Its undo sends the opposite to action.
func EnabledFlash(ctx context.Context, name string, enabled bool, action string) respond.Flash {
	message := i18n.Key("Disabled “%s”.")
	if enabled {
		message = i18n.Key("Enabled “%s”.")
	}
	return respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(ctx, message, ShortenText(name, MaxName)),
		Undo: &respond.Undo{Action: action, Form: url.Values{"enabled": {strconv.FormatBool(!enabled)}}},
	}
}
