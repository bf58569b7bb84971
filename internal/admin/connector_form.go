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
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// draftForm is the form of a draft.
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

// readDraft reads a connector from the form. A missing field keeps its value from before.
func readDraft(ctx context.Context, f postedForm, before connectors.Draft) (connectors.Draft, error) {
	d := before
	p := draftParser{form: f}
	p.readText("name", &d.Name)
	p.readText("slug", &d.Slug)
	p.readText("description", &d.Description)
	p.readText("url", &d.URL)
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
	d.OAuth = p.readOAuth(ctx, before.OAuth).For(d.Auth.Type)
	if f.values.Has("enabled") {
		d.Enabled = f.checked("enabled")
	}
	// The field is in the form for every type, but applies to this one only.
	if d.Auth.Type == connectors.AuthAPIKey && f.values.Has("auth.header") {
		d.Auth.Header = f.text("auth.header")
	}
	p.readProgram(ctx, &d)
	p.readHeaders(ctx, &d.Headers)
	p.readDuration("timeout_ms", time.Millisecond, &d.Timeout)
	p.readDuration("sync_interval_s", time.Second, &d.SyncInterval)
	p.readDuration("max_definition_age_s", time.Second, &d.DefinitionAge)
	p.readNumber("retry_attempts", &d.RetryAttempts)
	p.readNumber("calls_per_minute", &d.CallsPerMinute)
	return d, fault.InvalidFields(p.problems...)
}

// readSecrets reads a connector's secrets, or an agent's from the fields with prefix. It ignores fields of
// other types: without script the form has them all, and a browser may fill them in. A client id is part of an
// agent's secret, but a setting of the connector.
func readSecrets(f postedForm, t connectors.AuthType, prefix string) connectors.Secret {
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

// draftParser parses form fields and collects errors.
type draftParser struct {
	form     postedForm
	problems []fault.Field
}

func (p *draftParser) addProblem(name, message string) {
	p.problems = append(p.problems, fault.Field{Location: name, Message: message})
}

func (p *draftParser) readText(name string, to *string) {
	if p.form.values.Has(name) {
		*to = p.form.text(name)
	}
}

func (p *draftParser) readNumber(name string, to *int) {
	typed := p.form.text(name)
	if typed == "" {
		return
	}
	n, err := strconv.ParseInt(typed, 10, 32)
	if err != nil {
		p.addProblem(name, "This is not a whole number.")
		return
	}
	*to = int(n)
}

func (p *draftParser) readDuration(name string, unit time.Duration, to *time.Duration) {
	n := int(*to / unit)
	p.readNumber(name, &n)
	*to = time.Duration(n) * unit
}

func (p *draftParser) readHeaders(ctx context.Context, to *map[string]string) {
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
			p.addProblem("headers", i18n.T(ctx, "Each line is one header, as X-Team: eu, and each name stands once."))
			return
		}
		headers[name] = strings.TrimSpace(value)
	}
	*to = headers
}
