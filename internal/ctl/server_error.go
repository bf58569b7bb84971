package ctl

import (
	"errors"
	"strings"

	"patchbay/client"
)

// newServerError returns the error of a run, test or call: our sentence, and what the server said as a quote below it.
func newServerError(message string, u *client.UpstreamSaid) error {
	text := escapeText(message)
	if u == nil || u.Said == "" {
		return errors.New(text)
	}
	label := "The server said:"
	if u.ExitStatus != nil {
		label = "The program wrote:"
	}
	return errors.New(text + "\n" + label + "\n  > " + strings.ReplaceAll(Lines(u.Said), "\n", "\n  > "))
}
