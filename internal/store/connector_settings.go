package store

import (
	"encoding/json"
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// settingsColumns are the columns of the settings; the caller adds tenant, id and version.
func settingsColumns(s connectors.Settings) (dbgen.UpdateConnectorParams, error) {
	if s.Headers == nil {
		s.Headers = map[string]string{}
	}
	headers, err := json.Marshal(s.Headers)
	if err != nil {
		return dbgen.UpdateConnectorParams{}, fmt.Errorf("store headers: %w", err)
	}
	oauth, err := json.Marshal(s.OAuth)
	if err != nil {
		return dbgen.UpdateConnectorParams{}, fmt.Errorf("store OAuth settings: %w", err)
	}
	return dbgen.UpdateConnectorParams{
		Slug:              s.Slug,
		Name:              s.Name,
		Description:       s.Description,
		Transport:         s.Transport,
		Url:               s.URL,
		Command:           cleanText(s.Command.Path),
		Args:              cleanAll(s.Command.Args),
		Cwd:               cleanText(s.Command.Dir),
		Headers:           headers,
		CredentialMode:    s.CredentialMode,
		AuthType:          s.Auth.Type,
		AuthHeader:        s.Auth.Header,
		AuthIn:            s.Auth.In,
		ServerUrl:         s.ServerURL,
		Oauth:             cleanJSON(oauth),
		TimeoutMs:         toMilliseconds(s.Timeout),
		RetryAttempts:     int32(s.RetryAttempts),
		RetryBackoffMs:    toMilliseconds(s.RetryBackoff),
		ConnectTimeoutMs:  toMilliseconds(s.ConnectTimeout),
		MaxResponseBytes:  int32(s.ResponseBytes),
		StreamReconnects:  int32(s.Reconnects),
		Enabled:           s.Enabled,
		SyncIntervalS:     toSeconds(s.SyncInterval),
		ToolChanges:       s.ToolChanges,
		Listen:            s.Listen,
		MaxDefinitionAgeS: toSeconds(s.DefinitionAge),
		CallsPerMinute:    int32(s.CallsPerMinute),
		SessionPerAgent:   s.SessionPerAgent,
		Methods:           append([]string{}, s.Methods...),
	}, nil
}

func toSettings(r dbgen.Connector) connectors.Settings {
	s := connectors.Settings{
		Slug:            r.Slug,
		Name:            r.Name,
		Description:     r.Description,
		Transport:       r.Transport,
		URL:             r.Url,
		Command:         toCommand(r),
		Headers:         map[string]string{},
		CredentialMode:  r.CredentialMode,
		Auth:            connectors.Auth{Type: r.AuthType, Header: r.AuthHeader, In: r.AuthIn},
		ServerURL:       r.ServerUrl,
		Timeout:         time.Duration(r.TimeoutMs) * time.Millisecond,
		RetryAttempts:   int(r.RetryAttempts),
		RetryBackoff:    time.Duration(r.RetryBackoffMs) * time.Millisecond,
		ConnectTimeout:  time.Duration(r.ConnectTimeoutMs) * time.Millisecond,
		ResponseBytes:   int(r.MaxResponseBytes),
		Reconnects:      int(r.StreamReconnects),
		Enabled:         r.Enabled,
		SyncInterval:    time.Duration(r.SyncIntervalS) * time.Second,
		ToolChanges:     r.ToolChanges,
		Listen:          r.Listen,
		DefinitionAge:   time.Duration(r.MaxDefinitionAgeS) * time.Second,
		CallsPerMinute:  int(r.CallsPerMinute),
		SessionPerAgent: r.SessionPerAgent,
	}
	if len(r.Methods) > 0 {
		s.Methods = r.Methods
	}
	_ = json.Unmarshal(r.Headers, &s.Headers) // written by settingsColumns
	_ = json.Unmarshal(r.Oauth, &s.OAuth)
	return s
}

func toCommand(r dbgen.Connector) connectors.Command {
	c := connectors.Command{Path: r.Command, Dir: r.Cwd}
	if len(r.Args) > 0 {
		c.Args = r.Args
	}
	return c
}
