package connectors

import (
	"time"
)

// SettingsJSON are the settings of one value or list each as JSON. Addresses, texts and authentication have forms of their own
// in each document.
type SettingsJSON struct {
	TimeoutMS         int64    `json:"timeout_ms" doc:"Bounds each upstream request."`
	RetryAttempts     int      `json:"retry_attempts" doc:"Retries after the first try."`
	RetryBackoffMS    int64    `json:"retry_backoff_ms" doc:"The pause before the first retry. Each next one is twice as long, up to 10 seconds, and partly random."`
	ConnectTimeoutMS  int64    `json:"connect_timeout_ms" doc:"Bounds the opening of a connection, and its TLS handshake."`
	MaxResponseBytes  int      `json:"max_response_bytes" doc:"Bounds each message of the server."`
	StreamReconnects  int      `json:"stream_reconnects" doc:"How often a broken stream is opened again, in a row without an event."`
	Enabled           bool     `json:"enabled"`
	SyncIntervalS     int64    `json:"sync_interval_s" doc:"0: never by itself."`
	ToolChanges       string   `json:"tool_changes" enum:"auto,hold_risky,hold_all"`
	MaxDefinitionAgeS int64    `json:"max_definition_age_s" doc:"How old the last successful sync may be when a tool that may destroy something is called: an older one is repeated first. 0: any age."`
	Listen            string   `json:"listen" enum:"auto,off" doc:"auto: where the server tells that its lists have changed, Patchbay listens, and syncs."`
	CallsPerMinute    int      `json:"calls_per_minute" doc:"Of all agents together; 0: not bounded."`
	SessionPerAgent   bool     `json:"session_per_agent" doc:"true: agents that share a credential have sessions of their own, where the server keeps state for a session, and programs of their own."`
	Methods           []string `json:"methods" nullable:"false" doc:"Methods outside MCP that agents may send at the connector's own address: names, or prefixes such as acme/*; notifications begin with notifications/."`
}

// SettingsPatch changes the settings of SettingsJSON. nil keeps a value.
type SettingsPatch struct {
	TimeoutMS         *int64    `json:"timeout_ms,omitempty" minimum:"1000" maximum:"300000"`
	RetryAttempts     *int      `json:"retry_attempts,omitempty" minimum:"0" maximum:"5"`
	RetryBackoffMS    *int64    `json:"retry_backoff_ms,omitempty" minimum:"50" maximum:"10000" doc:"The pause before the first retry. Each next one is twice as long, up to 10 seconds, and partly random."`
	ConnectTimeoutMS  *int64    `json:"connect_timeout_ms,omitempty" minimum:"100" maximum:"60000" doc:"Bounds the opening of a connection, and its TLS handshake."`
	MaxResponseBytes  *int      `json:"max_response_bytes,omitempty" minimum:"65536" maximum:"8388608" doc:"Bounds each message of the server."`
	StreamReconnects  *int      `json:"stream_reconnects,omitempty" minimum:"0" maximum:"100" doc:"How often a broken stream is opened again, in a row without an event."`
	Enabled           *bool     `json:"enabled,omitempty"`
	SyncIntervalS     *int64    `json:"sync_interval_s,omitempty" minimum:"0" maximum:"2147483647" doc:"0: never by itself; else 60 or more."`
	ToolChanges       *string   `json:"tool_changes,omitempty" enum:"auto,hold_risky,hold_all"`
	MaxDefinitionAgeS *int64    `json:"max_definition_age_s,omitempty" minimum:"0" maximum:"86400" doc:"How old the last successful sync may be when a tool that may destroy something is called: an older one is repeated first. 0: any age; else 60 or more."`
	Listen            *string   `json:"listen,omitempty" enum:"auto,off" doc:"auto: where the server tells that its lists have changed, Patchbay listens, and syncs."`
	CallsPerMinute    *int      `json:"calls_per_minute,omitempty" minimum:"0" maximum:"1000000" doc:"Of all agents together; 0: not bounded."`
	SessionPerAgent   *bool     `json:"session_per_agent,omitempty" doc:"true: agents that share a credential have sessions of their own, where the server keeps state for a session, and programs of their own."`
	Methods           *[]string `json:"methods,omitempty" maxItems:"50" nullable:"false" doc:"Methods outside MCP that agents may send at the connector's own address: names, or prefixes such as acme/*; notifications begin with notifications/."`
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
