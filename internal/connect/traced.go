package connect

import (
	"errors"

	"patchbay/internal/fault"
	"patchbay/internal/oauth"
)

// failureWord is what traces say of a failure: its class.
func failureWord(err error) string {
	if failed, ok := errors.AsType[*oauth.Error](err); ok {
		return string(failed.Kind)
	}
	if f := fault.As(err); f.Code != "" {
		return f.Code
	}
	return "failed"
}
