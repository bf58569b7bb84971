package registry

import (
	"errors"

	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
)

// egressSentence is what a person is told of a refused URL.
func egressSentence(err error) string {
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return blocked.Error()
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return "This is not a URL that Patchbay can connect to."
}
