package connect

import (
	"errors"

	"patchbay/internal/fault"
	"patchbay/internal/oauth"
)

// failureClass returns the class of a failure, for traces.
func failureClass(err error) string {
	if failed, ok := errors.AsType[*oauth.Error](err); ok {
		return string(failed.Kind)
	}
	if f := fault.As(err); f.Code != "" {
		return f.Code
	}
	return "failed"
}
