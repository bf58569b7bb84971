package admin

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// draftForm is the form that describes d.
func draftForm(d connectors.Draft) templates.Form {
	values := map[string]string{
		"name":             d.Name,
		"slug":             d.Slug,
		"description":      d.Description,
		"transport":        string(d.Transport),
		"url":              d.URL,
		"headers":          headerLines(d.Headers),
		"credential_mode":  string(d.CredentialMode),
		"auth.type":        string(d.Auth.Type),
		"auth.header":      d.Auth.Header,
		"timeout_ms":       strconv.FormatInt(d.Timeout.Milliseconds(), 10),
		"retry_attempts":   strconv.Itoa(d.RetryAttempts),
		"sync_interval_s":  strconv.Itoa(int(d.SyncInterval.Seconds())),
		"calls_per_minute": strconv.Itoa(d.CallsPerMinute),
		"listen":           string(d.Listen),
		"tool_changes":     string(d.ToolChanges),

		"max_definition_age_s": strconv.Itoa(int(d.DefinitionAge.Seconds())),
	}
	if d.Enabled {
		values["enabled"] = "true"
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

// draft reads a connector out of the form, over what it was before. A field that the form does not have stays.
func (f form) draft(ctx context.Context, before connectors.Draft) (connectors.Draft, error) {
	d := before
	p := draftParser{form: f}
	p.text("name", &d.Name)
	p.text("slug", &d.Slug)
	p.text("description", &d.Description)
	p.text("url", &d.URL)
	if f.values.Has("transport") {
		d.Transport = connectors.Transport(f.text("transport"))
	}
	if f.values.Has("credential_mode") {
		d.CredentialMode = connectors.CredentialMode(f.text("credential_mode"))
	}
	if f.values.Has("listen") {
		d.Listen = connectors.ListenPolicy(f.text("listen"))
	}
	if f.values.Has("tool_changes") {
		d.ToolChanges = connectors.ToolChangePolicy(f.text("tool_changes"))
	}
	if f.values.Has("auth.type") {
		d.Auth = connectors.Auth{Type: connectors.AuthType(f.text("auth.type"))}
	}
	d.OAuth = p.oauth(ctx, before.OAuth).For(d.Auth.Type)
	if f.values.Has("enabled") {
		d.Enabled = f.checked("enabled")
	}
	// The field stands in the form whatever the type; it counts for the type that has a header.
	if d.Auth.Type == connectors.AuthAPIKey && f.values.Has("auth.header") {
		d.Auth.Header = f.text("auth.header")
	}
	p.program(ctx, &d)
	p.headers(ctx, &d.Headers)
	p.duration("timeout_ms", time.Millisecond, &d.Timeout)
	p.duration("sync_interval_s", time.Second, &d.SyncInterval)
	p.duration("max_definition_age_s", time.Second, &d.DefinitionAge)
	p.number("retry_attempts", &d.RetryAttempts)
	p.number("calls_per_minute", &d.CallsPerMinute)
	return d, fault.InvalidFields(p.wrong...)
}

// secrets reads what of the form authenticates a connector, or from the fields after prefix an agent. Fields of other types
// are left alone: without script they all stand in the form, and a browser fills in what it likes. A client id is part of an
// agent's secret; in the connector's form it is a setting.
func (f form) secrets(t connectors.AuthType, prefix string) connectors.Secret {
	var ownClient string
	if prefix == "" {
		ownClient = f.text("client_id")
	}
	switch t {
	case connectors.AuthBearer:
		return connectors.Secret{Token: f.secret(prefix + "token")}
	case connectors.AuthAPIKey:
		return connectors.Secret{Key: f.secret(prefix + "key")}
	case connectors.AuthBasic:
		return connectors.Secret{Username: f.text(prefix + "username"), Password: f.secret(prefix + "password")}
	case connectors.AuthOAuth2:
		return connectors.Secret{ClientSecret: f.secret(prefix + "client_secret")}
	case connectors.AuthClientCredentials:
		return connectors.Secret{ClientID: ownClient, ClientSecret: f.secret(prefix + "client_secret")}
	case connectors.AuthPrivateKeyJWT:
		return connectors.Secret{ClientID: ownClient, PrivateKey: f.secret(prefix + "private_key")}
	default:
		return connectors.Secret{}
	}
}

// draftParser reads fields and gathers what is wrong with them.
type draftParser struct {
	form  form
	wrong []fault.Field
}

func (p *draftParser) refuse(name, message string) {
	p.wrong = append(p.wrong, fault.Field{Location: name, Message: message})
}

func (p *draftParser) text(name string, to *string) {
	if p.form.values.Has(name) {
		*to = p.form.text(name)
	}
}

func (p *draftParser) number(name string, to *int) {
	typed := p.form.text(name)
	if typed == "" {
		return
	}
	n, err := strconv.ParseInt(typed, 10, 32)
	if err != nil {
		p.refuse(name, "This is not a whole number.")
		return
	}
	*to = int(n)
}

func (p *draftParser) duration(name string, unit time.Duration, to *time.Duration) {
	n := int(*to / unit)
	p.number(name, &n)
	*to = time.Duration(n) * unit
}

// headers reads lines of "Name: value".
func (p *draftParser) headers(ctx context.Context, to *map[string]string) {
	if !p.form.values.Has("headers") {
		return
	}
	headers := map[string]string{}
	for line := range strings.Lines(p.form.values.Get("headers")) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if _, twice := headers[name]; twice || !found || name == "" {
			p.refuse("headers", words.T(ctx, "Each line is one header, as X-Team: eu, and each name stands once."))
			return
		}
		headers[name] = strings.TrimSpace(value)
	}
	*to = headers
}
