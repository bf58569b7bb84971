package connectors

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// SyncIntervals and DefinitionAges are what the forms offer; 0 is never.
var (
	SyncIntervals  = []time.Duration{0, 5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}
	DefinitionAges = []time.Duration{0, time.Minute, 5 * time.Minute, time.Hour, 24 * time.Hour}
)

// durationFields are the form's durations, with their unit and what they offer.
var durationFields = map[string]struct {
	unit time.Duration
	list []time.Duration
}{
	"timeout_ms":           {time.Millisecond, []time.Duration{5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}},
	"connect_timeout_ms":   {time.Millisecond, []time.Duration{time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute}},
	"retry_backoff_ms":     {time.Millisecond, []time.Duration{100 * time.Millisecond, 250 * time.Millisecond, time.Second, 5 * time.Second, 10 * time.Second}},
	"sync_interval_s":      {time.Second, SyncIntervals},
	"max_definition_age_s": {time.Second, DefinitionAges},
}

func durationChoices(ctx context.Context, f templates.Form) map[string]templates.DurationChoice {
	choices := map[string]templates.DurationChoice{}
	for name, d := range durationFields {
		choices[name] = shell.NewDurationChoice(ctx, f.Value(name), d.unit, d.list...)
	}
	return choices
}

// draftForm is the form of a draft.
func draftForm(d connectors.Draft) templates.Form {
	values := map[string]string{
		"name":               d.Name,
		"slug":               d.Slug,
		"description":        d.Description,
		"transport":          string(d.Transport),
		"url":                d.URL,
		"headers":            headerLines(d.Headers),
		"credential_mode":    string(d.CredentialMode),
		"auth.type":          string(d.Auth.Type),
		"auth.header":        d.Auth.Header,
		"auth.in":            string(d.Auth.In),
		"server_url":         d.ServerURL,
		"timeout_ms":         strconv.FormatInt(d.Timeout.Milliseconds(), 10),
		"retry_attempts":     strconv.Itoa(d.RetryAttempts),
		"stream_reconnects":  strconv.Itoa(d.Reconnects),
		"retry_backoff_ms":   strconv.FormatInt(d.RetryBackoff.Milliseconds(), 10),
		"connect_timeout_ms": strconv.FormatInt(d.ConnectTimeout.Milliseconds(), 10),
		"max_response_bytes": strconv.Itoa(d.ResponseBytes),
		"sync_interval_s":    strconv.Itoa(int(d.SyncInterval.Seconds())),
		"calls_per_minute":   strconv.Itoa(d.CallsPerMinute),
		"listen":             string(d.Listen),
		"methods":            strings.Join(d.Methods, "\n"),
		"tool_changes":       string(d.ToolChanges),

		"max_definition_age_s": strconv.Itoa(int(d.DefinitionAge.Seconds())),
	}
	if d.Enabled {
		values["enabled"] = "true"
	}
	if d.SessionPerAgent {
		values["session_per_agent"] = "true"
	}
	maps.Copy(values, oauthValues(d.OAuth))
	maps.Copy(values, programValues(d.Command))
	return templates.Form{Values: values}
}

func headerLines(headers map[string]string) string {
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lines.WriteString(name + ": " + headers[name] + "\n")
	}
	return lines.String()
}

// readDraft reads a connector from the form. A missing field keeps its value from before.
func readDraft(ctx context.Context, f shell.PostedForm, before connectors.Draft) (connectors.Draft, error) {
	d := before
	p := DraftParser{Form: f}
	_ = f.ReadDurations(slices.Collect(maps.Keys(durationFields))...) // what stays custom is no number, which is said below
	p.readText("name", &d.Name)
	p.readText("slug", &d.Slug)
	p.readText("description", &d.Description)
	p.readText("url", &d.URL)
	p.readText("server_url", &d.ServerURL)
	d.URL, d.ServerURL = completeURL(d.URL), completeURL(d.ServerURL)
	if f.Values.Has("transport") {
		d.Transport = connectors.Transport(f.Text("transport"))
	}
	if f.Values.Has("credential_mode") { // and so has the box
		d.SessionPerAgent = f.Checked("session_per_agent")
		d.CredentialMode = connectors.CredentialMode(f.Text("credential_mode"))
	}
	if f.Values.Has("listen") {
		d.Listen = connectors.ListenPolicy(f.Text("listen"))
	}
	if f.Values.Has("tool_changes") {
		d.ToolChanges = connectors.ToolChangePolicy(f.Text("tool_changes"))
	}
	if f.Values.Has("auth.type") {
		d.Auth = connectors.Auth{Type: connectors.AuthType(f.Text("auth.type"))}
	}
	d.OAuth = p.readOAuth(ctx, before.OAuth).For(d.Auth.Type)
	if f.Values.Has("enabled") {
		d.Enabled = f.Checked("enabled")
	}
	// The field is in the form for every type, but applies to this one only.
	if d.Auth.Type == connectors.AuthAPIKey && f.Values.Has("auth.header") {
		d.Auth.Header, d.Auth.In = f.Text("auth.header"), connectors.KeyIn(f.Text("auth.in"))
	}
	p.readProgram(ctx, &d)
	p.readHeaders(ctx, &d.Headers)
	if f.Values.Has("methods") {
		d.Methods = append([]string(nil), strings.Fields(f.Values.Get("methods"))...)
	}
	p.ReadDuration("timeout_ms", time.Millisecond, &d.Timeout)
	p.ReadDuration("sync_interval_s", time.Second, &d.SyncInterval)
	p.ReadDuration("max_definition_age_s", time.Second, &d.DefinitionAge)
	p.readNumber("retry_attempts", &d.RetryAttempts)
	p.ReadDuration("retry_backoff_ms", time.Millisecond, &d.RetryBackoff)
	p.ReadDuration("connect_timeout_ms", time.Millisecond, &d.ConnectTimeout)
	p.readNumber("max_response_bytes", &d.ResponseBytes)
	p.readNumber("stream_reconnects", &d.Reconnects)
	p.readNumber("calls_per_minute", &d.CallsPerMinute)
	return d, fault.InvalidFields(p.Problems...)
}

// ReadSecrets reads a connector's secrets, or an agent's from the fields with prefix. It ignores fields of
// other types: without script the form has them all, and a browser may fill them in. A client id is part of an
// agent's secret, but a setting of the connector.
func ReadSecrets(f shell.PostedForm, t connectors.AuthType, prefix string) connectors.Secret {
	var ownClient string
	if prefix == "" {
		ownClient = f.Text("client_id")
	}
	switch t {
	case connectors.AuthBearer:
		return connectors.Secret{Token: f.Secret(prefix + "token")}
	case connectors.AuthAPIKey:
		return connectors.Secret{Key: f.Secret(prefix + "key")}
	case connectors.AuthBasic:
		return connectors.Secret{Username: f.Text(prefix + "username"), Password: f.Secret(prefix + "password")}
	case connectors.AuthOAuth2:
		return connectors.Secret{ClientSecret: f.Secret(prefix + "client_secret")}
	case connectors.AuthClientCredentials:
		s := connectors.Secret{ClientID: ownClient, ClientSecret: f.Secret(prefix + "client_secret")}
		if prefix == "" {
			s.WorkloadToken = f.Text("workload_token")
		}
		return s
	case connectors.AuthPrivateKeyJWT:
		return connectors.Secret{ClientID: ownClient, PrivateKey: f.Secret(prefix + "private_key")}
	default:
		return connectors.Secret{}
	}
}

// DraftParser parses form fields and collects errors.
type DraftParser struct {
	Form     shell.PostedForm
	Problems []fault.Field
}

func (p *DraftParser) addProblem(name, message string) {
	p.Problems = append(p.Problems, fault.Field{Location: name, Message: message})
}

func (p *DraftParser) readText(name string, to *string) {
	if p.Form.Values.Has(name) {
		*to = p.Form.Text(name)
	}
}

func (p *DraftParser) readNumber(name string, to *int) {
	typed := p.Form.Text(name)
	if typed == "" {
		return
	}
	n, err := strconv.ParseInt(typed, 10, 32)
	if err != nil {
		p.addProblem(name, "Enter a whole number.")
		return
	}
	*to = int(n)
}

// ReadDuration reads a number of units into to, and notes a wrong one.
func (p *DraftParser) ReadDuration(name string, unit time.Duration, to *time.Duration) {
	n := int(*to / unit)
	p.readNumber(name, &n)
	*to = time.Duration(n) * unit
}

func (p *DraftParser) readHeaders(ctx context.Context, to *map[string]string) {
	if !p.Form.Values.Has("headers") {
		return
	}
	headers := map[string]string{}
	for line := range strings.Lines(p.Form.Values.Get("headers")) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if _, twice := headers[name]; twice || !found || name == "" {
			p.addProblem("headers", i18n.T(ctx, "One header per line, like X-Team: eu, no duplicates."))
			return
		}
		headers[name] = strings.TrimSpace(value)
	}
	*to = headers
}
