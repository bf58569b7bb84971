package config

import (
	"log/slog"
	"strings"
)

// LogFlags select the level and the format of logs.
type LogFlags struct {
	Level  string `name:"log-level" env:"PATCHBAY_LOG_LEVEL" placeholder:"LEVEL" default:"info" help:"debug, info, warn or error (${default})."`
	Format string `name:"log-format" env:"PATCHBAY_LOG_FORMAT" placeholder:"FORMAT" help:"text or json. Unset: text on a terminal, else json."`
}

// LogFormat is the format of a log line.
type LogFormat string

// The log formats. The empty one depends on where the log goes.
const (
	LogAuto LogFormat = ""
	LogText LogFormat = "text"
	LogJSON LogFormat = "json"
)

// Log is the checked form of LogFlags.
type Log struct {
	Level  slog.Level
	Format LogFormat
}

// Check checks the flags.
func (f LogFlags) Check() (Log, error) {
	var c fieldErrors
	l := Log{Format: LogFormat(f.Format)}
	switch strings.ToLower(orDefault(f.Level, "info")) {
	case "debug":
		l.Level = slog.LevelDebug
	case "info":
		l.Level = slog.LevelInfo
	case "warn":
		l.Level = slog.LevelWarn
	case "error":
		l.Level = slog.LevelError
	default:
		c.addField("PATCHBAY_LOG_LEVEL", "must be debug, info, warn or error, not %q.", f.Level)
	}
	if l.Format != LogAuto && l.Format != LogText && l.Format != LogJSON {
		c.addField("PATCHBAY_LOG_FORMAT", "must be text or json, not %q.", f.Format)
	}
	return l, c.asFault()
}
