package operator

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"patchbay/internal/config"
	"patchbay/internal/telemetry"
)

// IO is the input, output and environment of a command, and the version of the program.
type IO struct {
	Stdin          *os.File
	Stdout, Stderr io.Writer
	Environ        []string
	Version        string
}

// Getenv returns the value of a variable; empty: it is not set.
func (p IO) Getenv(name string) string {
	for _, line := range slices.Backward(p.Environ) {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}

// NewLogger returns the command's logger.
func (p IO) NewLogger(flags config.LogFlags) (*slog.Logger, error) {
	settings, err := flags.Check()
	if err != nil {
		return nil, err
	}
	return telemetry.NewLogger(p.Stderr, settings.Level, telemetry.Format(settings.Format)), nil
}

func (p IO) printLine(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Stdout, format+"\n", args...)
}

// SilentFailure is the failure of a command that has printed everything.
type SilentFailure struct{}

// Error says that the command failed.
func (SilentFailure) Error() string { return "failed" }
