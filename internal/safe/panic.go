package safe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// Error is a panic that was recovered. Its text holds nothing of the panic's value but what the runtime said.
type Error struct {
	Kind Kind
	Text string
}

func (e *Error) Error() string { return "panic in " + e.Kind.String() + ": " + e.Text }

var (
	logger atomic.Pointer[slog.Logger] // nil: the standard one
	counts [kinds]atomic.Uint64
)

// SetLogger has panics logged there, for the whole process. Without it they go to slog's default logger.
func SetLogger(l *slog.Logger) { logger.Store(l) }

// Count is how many panics of a kind were recovered since the process began.
func Count(k Kind) uint64 { return counts[k].Load() }

// Describe names a panic's value: in the runtime's own words where it is an error of the runtime, and by its type otherwise. The value
// could hold a credential, or what a request brought.
func Describe(v any) string {
	if err, ok := v.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", v)
}

// Caught logs and counts what recover returned, and returns it as an error. Call it in the deferred function that recovered: the stack is
// still the panic's there.
func Caught(k Kind, v any, attrs ...slog.Attr) *Error {
	l := logger.Load()
	if l == nil {
		l = slog.Default()
	}
	return CaughtBy(l, k, v, attrs...)
}

// CaughtBy is Caught with a logger of the caller's.
func CaughtBy(l *slog.Logger, k Kind, v any, attrs ...slog.Attr) *Error {
	e := &Error{Kind: k, Text: Describe(v)}
	counts[k].Add(1)
	defer func() { _ = recover() }() // of the log's handler: there is nobody left to tell
	l.LogAttrs(context.Background(), slog.LevelError, "panic recovered",
		append(attrs, slog.String("kind", k.String()), slog.String("panic", e.Text), slog.String("stack", string(debug.Stack())))...)
	return e
}

// IsPanic reports whether an error is a panic that was recovered. It is in the log already.
func IsPanic(err error) bool {
	_, panicked := errors.AsType[*Error](err)
	return panicked
}

// Recover ends a panic of the function that deferred it.
func Recover(k Kind) {
	if v := recover(); v != nil {
		_ = Caught(k, v)
	}
}

// RecoverTo ends a panic of the function that deferred it, and makes it that function's error.
func RecoverTo(k Kind, err *error) {
	if v := recover(); v != nil {
		*err = Caught(k, v)
	}
}
