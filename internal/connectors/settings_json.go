package connectors

import (
	"time"
)

// SettingsJSON are the settings of one value or list each as JSON. Addresses, texts and authentication have forms of their own
// in each document.
type SettingsJSON struct {
	TimeoutMS         int64    `json:"timeout_ms" doc:"Time limit of each upstream request."`
	RetryAttempts     int      `json:"retry_attempts" doc:"Retries after the first attempt."`
	RetryBackoffMS    int64    `json:"retry_backoff_ms" doc:"Delay before the first retry. Doubles each time, up to 10 seconds, with jitter."`
	ConnectTimeoutMS  int64    `json:"connect_timeout_ms" doc:"Time limit for connecting, and for the TLS handshake."`
	MaxResponseBytes  int      `json:"max_response_bytes" doc:"Maximum size of each server message."`
	StreamReconnects  int      `json:"stream_reconnects" doc:"Consecutive reconnects of a stream without an event."`
	Enabled           bool     `json:"enabled"`
	SyncIntervalS     int64    `json:"sync_interval_s" doc:"0: never automatically."`
	ToolChanges       string   `json:"tool_changes" enum:"auto,hold_risky,hold_all"`
	MaxDefinitionAgeS int64    `json:"max_definition_age_s" doc:"Maximum age of the last successful sync when a destructive tool is called; if older, tools are synced first. 0: any age."`
	Listen            string   `json:"listen" enum:"auto,off" doc:"auto: listen for list changes if the server announces them, and sync."`
	CallsPerMinute    int      `json:"calls_per_minute" doc:"For all agents together. 0: no limit."`
	SessionPerAgent   bool     `json:"session_per_agent" doc:"true: agents that share a credential have separate sessions, if the server has stateful sessions, and separate stdio programs."`
	Methods           []string `json:"methods" nullable:"false" doc:"Methods outside MCP that agents may send at the connector's own address: names, or prefixes such as acme/*. Notifications start with notifications/."`
}

// SettingsPatch changes the settings of SettingsJSON. nil keeps a value.
type SettingsPatch struct {
	TimeoutMS         *int64    `json:"timeout_ms,omitempty" minimum:"1000" maximum:"300000"`
	RetryAttempts     *int      `json:"retry_attempts,omitempty" minimum:"0" maximum:"5"`
	RetryBackoffMS    *int64    `json:"retry_backoff_ms,omitempty" minimum:"50" maximum:"10000" doc:"Delay before the first retry. Doubles each time, up to 10 seconds, with jitter."`
	ConnectTimeoutMS  *int64    `json:"connect_timeout_ms,omitempty" minimum:"100" maximum:"60000" doc:"Time limit for connecting, and for the TLS handshake."`
	MaxResponseBytes  *int      `json:"max_response_bytes,omitempty" minimum:"65536" maximum:"8388608" doc:"Maximum size of each server message."`
	StreamReconnects  *int      `json:"stream_reconnects,omitempty" minimum:"0" maximum:"100" doc:"Consecutive reconnects of a stream without an event."`
	Enabled           *bool     `json:"enabled,omitempty"`
	SyncIntervalS     *int64    `json:"sync_interval_s,omitempty" minimum:"0" maximum:"2147483647" doc:"0: never automatically; otherwise 60 or more."`
	ToolChanges       *string   `json:"tool_changes,omitempty" enum:"auto,hold_risky,hold_all"`
	MaxDefinitionAgeS *int64    `json:"max_definition_age_s,omitempty" minimum:"0" maximum:"86400" doc:"Maximum age of the last successful sync when a destructive tool is called; if older, tools are synced first. 0: any age; otherwise 60 or more."`
	Listen            *string   `json:"listen,omitempty" enum:"auto,off" doc:"auto: listen for list changes if the server announces them, and sync."`
	CallsPerMinute    *int      `json:"calls_per_minute,omitempty" minimum:"0" maximum:"1000000" doc:"For all agents together. 0: no limit."`
	SessionPerAgent   *bool     `json:"session_per_agent,omitempty" doc:"true: agents that share a credential have separate sessions, if the server has stateful sessions, and separate stdio programs."`
	Methods           *[]string `json:"methods,omitempty" maxItems:"50" nullable:"false" doc:"Methods outside MCP that agents may send at the connector's own address: names, or prefixes such as acme/*. Notifications start with notifications/."`
}

// JSON returns the settings of one value each.
func (s Settings) JSON() SettingsJSON {
	return SettingsJSON{
		TimeoutMS:         s.Timeout.Milliseconds(),
		RetryAttempts:     s.RetryAttempts,
		RetryBackoffMS:    s.RetryBackoff.Milliseconds(),
		ConnectTimeoutMS:  s.ConnectTimeout.Milliseconds(),
		MaxResponseBytes:  s.ResponseBytes,
		StreamReconnects:  s.Reconnects,
		Enabled:           s.Enabled,
		SyncIntervalS:     int64(s.SyncInterval / time.Second),
		ToolChanges:       string(s.ToolChanges),
		MaxDefinitionAgeS: int64(s.DefinitionAge / time.Second),
		Listen:            string(s.Listen),
		CallsPerMinute:    s.CallsPerMinute,
		SessionPerAgent:   s.SessionPerAgent,
		Methods:           append([]string{}, s.Methods...),
	}
}

// Patch returns a patch that sets each value of j.
func (j SettingsJSON) Patch() SettingsPatch {
	return SettingsPatch{
		TimeoutMS: &j.TimeoutMS, RetryAttempts: &j.RetryAttempts, Enabled: &j.Enabled, SyncIntervalS: &j.SyncIntervalS,
		ToolChanges: &j.ToolChanges, MaxDefinitionAgeS: &j.MaxDefinitionAgeS, Listen: &j.Listen, CallsPerMinute: &j.CallsPerMinute,
		SessionPerAgent: &j.SessionPerAgent, RetryBackoffMS: &j.RetryBackoffMS, ConnectTimeoutMS: &j.ConnectTimeoutMS,
		MaxResponseBytes: &j.MaxResponseBytes, StreamReconnects: &j.StreamReconnects, Methods: &j.Methods,
	}
}

// Apply changes s.
func (p SettingsPatch) Apply(s *Settings) {
	setIfPresent(&s.RetryAttempts, p.RetryAttempts)
	setIfPresent(&s.ResponseBytes, p.MaxResponseBytes)
	setIfPresent(&s.Reconnects, p.StreamReconnects)
	setIfPresent(&s.Enabled, p.Enabled)
	setIfPresent(&s.CallsPerMinute, p.CallsPerMinute)
	setIfPresent(&s.SessionPerAgent, p.SessionPerAgent)
	setIfPresent(&s.Methods, p.Methods)
	setEnumIfPresent(&s.ToolChanges, p.ToolChanges)
	setEnumIfPresent(&s.Listen, p.Listen)
	setDurationIfPresent(&s.Timeout, p.TimeoutMS, time.Millisecond)
	setDurationIfPresent(&s.RetryBackoff, p.RetryBackoffMS, time.Millisecond)
	setDurationIfPresent(&s.ConnectTimeout, p.ConnectTimeoutMS, time.Millisecond)
	setDurationIfPresent(&s.SyncInterval, p.SyncIntervalS, time.Second)
	setDurationIfPresent(&s.DefinitionAge, p.MaxDefinitionAgeS, time.Second)
}

func setIfPresent[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

func setEnumIfPresent[T ~string](field *T, value *string) {
	if value != nil {
		*field = T(*value)
	}
}

func setDurationIfPresent(field *time.Duration, value *int64, unit time.Duration) {
	if value != nil {
		*field = time.Duration(*value) * unit
	}
}
