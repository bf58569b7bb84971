package telemetry

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// Format is how log lines look.
type Format string

// The formats. Auto is text on a terminal and JSON elsewhere.
const (
	Auto Format = ""
	Text Format = "text"
	JSON Format = "json"
)

// NewLogger makes the program's logger over w.
func NewLogger(w io.Writer, level slog.Level, format Format) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == Text || format == Auto && isTerminal(w) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
