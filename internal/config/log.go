package config

import (
	"log/slog"
	"strings"
)

// LogFlags say how much is logged, and how it looks.
type LogFlags struct {
	Level  string `name:"log-level" env:"PATCHBAY_LOG_LEVEL" placeholder:"LEVEL" default:"info" help:"debug, info, warn or error (${default})."`
	Format string `name:"log-format" env:"PATCHBAY_LOG_FORMAT" placeholder:"FORMAT" help:"text or json. Unset: text on a terminal, else json."`
}

// LogFormat is how a log line looks.
type LogFormat string

// The log formats. The empty one is decided by where the log goes.
const (
	LogAuto LogFormat = ""
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

// Log is what is logged, checked.
type Log struct {
	Level  slog.Level
	Format LogFormat
}

// Check reads the flags.
func (f LogFlags) Check() (Log, error) {
	var c checker
	l := Log{Format: LogFormat(f.Format)}
	switch strings.ToLower(or(f.Level, "info")) {
	case "debug":
		l.Level = slog.LevelDebug
	case "info":
		l.Level = slog.LevelInfo
	case "warn":
		l.Level = slog.LevelWarn
	case "error":
		l.Level = slog.LevelError
	default:
		c.refuse("PATCHBAY_LOG_LEVEL", "must be debug, info, warn or error, and is %q.", f.Level)
	}
	if l.Format != LogAuto && l.Format != LogText && l.Format != LogJSON {
		c.refuse("PATCHBAY_LOG_FORMAT", "must be text or json, and is %q.", f.Format)
	}
	return l, c.err()
}
