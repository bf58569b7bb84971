package connectors

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/middleware"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/curl"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// readConnectorForm reads the form of a connector, which may have the document of an HTTP API.
func readConnectorForm(w http.ResponseWriter, r *http.Request) (f shell.PostedForm, err error) {
	middleware.SetBodyLimit(w, r, middleware.MaxDocumentBody)
	if err := parseUpload(r, middleware.MaxDocumentBody); err != nil {
		return f, err
	}
	if f, err = shell.ReadForm(r); err != nil {
		return f, err
	}
	size := 0
	for name, values := range f.Values {
		for _, value := range values {
			if name != "document" {
				size += len(name) + len(value)
			}
		}
	}
	if size > middleware.MaxBody {
		return f, &http.MaxBytesError{Limit: middleware.MaxBody}
	}
	return f, nil
}

// createAPI adds a connector to an HTTP API.
func (h *Handler) createAPI(r *http.Request, f shell.PostedForm, d connectors.Draft) (c connectors.Connector, err error) {
	content, command, err := readAPIContent(r, f, &d)
	if err != nil {
		return c, err
	}
	secrets := ReadSecrets(f, d.Auth.Type, "auth.")
	if command != nil && command.Credential != nil && d.Auth.Type == connectors.AuthNone {
		d.Auth, secrets = toAuth(*command.Credential)
	}
	if d.Name == "" {
		if d.Name, err = h.suggestAPIName(r, d, content); err != nil {
			return c, err
		}
	}
	return h.Registry.CreateAPI(r.Context(), shell.Actor(r), d, secrets, content, false)
}

// suggestAPIName returns the title of the document, or a name made of the URL.
func (h *Handler) suggestAPIName(r *http.Request, d connectors.Draft, content manage.APIContent) (string, error) {
	p, err := h.Registry.PreviewAPI(r.Context(), shell.Actor(r), d, content)
	if err == nil && p.Error != nil {
		err = p.Error
	}
	return cmp.Or(shell.ShortenText(shell.CleanText(p.About.Title), connectors.MaxName), suggestName(d.URL)), err
}

// readAPIContent reads where an HTTP API's tools come from: a URL, a document, a curl command, or endpoints that follow.
func readAPIContent(r *http.Request, f shell.PostedForm, d *connectors.Draft) (content manage.APIContent, command *curl.Command, err error) {
	content.NoDocument = f.Checked("by_hand")
	if text := f.Text("curl"); text != "" {
		if command, err = curl.Parse(text); err != nil {
			return content, nil, atField("curl", err)
		}
		content.Endpoints = []openapi.Endpoint{command.Endpoint}
		d.URL = cmp.Or(d.URL, readOrigin(command.Endpoint.URL))
		return content, command, nil
	}
	if content.NoDocument {
		return content, nil, nil
	}
	file, err := chosenFile(r, connectors.MaxAPIDocument)
	if err != nil {
		return content, nil, atField("file", err)
	}
	if text := f.Text("document"); text != "" {
		file = []byte(text)
	}
	if len(file) == 0 {
		return content, nil, nil
	}
	content.Document = file
	if d.URL == "" {
		d.URL = manage.FindServer(r.Context(), shell.Actor(r), file)
	}
	return content, nil, nil
}

// atField places a fault beside a field of the form.
func atField(name string, err error) error {
	if f := fault.As(err); f.Kind == fault.Invalid || f.Kind == fault.TooLarge {
		return fault.InvalidFields(fault.Field{Location: name, Message: f.Message})
	}
	return err
}

// readOrigin returns scheme and host of an address.
func readOrigin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// toAuth returns the authentication of a curl command's credential.
func toAuth(c curl.Credential) (connectors.Auth, connectors.Secret) {
	switch c.Type {
	case openapi.SchemeBearer:
		return connectors.Auth{Type: connectors.AuthBearer}, connectors.Secret{Token: secret.Text(c.Value)}
	case openapi.SchemeBasic:
		user, password, _ := strings.Cut(c.Value, ":")
		return connectors.Auth{Type: connectors.AuthBasic}, connectors.Secret{Username: user, Password: secret.Text(password)}
	default:
		in := connectors.KeyIn(strings.TrimPrefix(c.In, "header"))
		return connectors.Auth{Type: connectors.AuthAPIKey, Header: c.Name, In: in}, connectors.Secret{Key: secret.Text(c.Value)}
	}
}

// testAPI reads the document of an HTTP API, and says what is in it.
func (h *Handler) testAPI(r *http.Request, f shell.PostedForm, before *connectors.Connector) (*templates.TestResult, error) {
	base := connectors.NewDraft()
	if before != nil {
		base = connectors.DraftOf(*before)
	}
	d, err := readDraft(r.Context(), f, base)
	if err != nil {
		return nil, err
	}
	content, command, err := readAPIContent(r, f, &d)
	if err != nil {
		return nil, err
	}
	if command != nil {
		return endpointResult(r.Context(), command), nil
	}
	if before != nil && content.Document == nil {
		if err := h.useStoredDocument(r, *before, &content); err != nil {
			return nil, err
		}
	}
	p, err := h.Registry.PreviewAPI(r.Context(), shell.Actor(r), d, content)
	if err != nil {
		return nil, err
	}
	return documentResult(r.Context(), p, d.Auth.Type), nil
}

// useStoredDocument makes a test read what saving would keep, unless the document is fetched.
func (h *Handler) useStoredDocument(r *http.Request, c connectors.Connector, content *manage.APIContent) error {
	_, document, err := h.Registry.APIDocument(r.Context(), shell.Actor(r).Tenant.ID, connectors.Ref(c.ID.String()), true)
	switch {
	case err != nil:
	case document == nil:
		content.NoDocument = true
	case !document.IsFetched:
		content.Document = document.Body
	}
	return err
}

// endpointResult says which tool a curl command becomes.
func endpointResult(ctx context.Context, command *curl.Command) *templates.TestResult {
	e := command.Endpoint
	result := &templates.TestResult{Kind: templates.StateOK, Summary: i18n.T(ctx, "The command becomes the tool %s.", e.Name)}
	result.Facts = []templates.Fact{{Label: i18n.T(ctx, "Request"), Value: e.Method + " " + e.URL, Mono: true}}
	for _, note := range command.Notes {
		result.Facts = append(result.Facts, templates.Fact{Label: i18n.T(ctx, "Note"), Value: i18n.TranslateKnown(ctx, note)})
	}
	return result
}

// documentResult says what a document has. now is the authentication that the form has chosen.
func documentResult(ctx context.Context, p manage.APIPreview, now connectors.AuthType) *templates.TestResult {
	if p.Error != nil {
		return &templates.TestResult{Kind: templates.StateBad, Summary: i18n.T(ctx, "No document"), Failure: toFailure(ctx, p.Error)}
	}
	if !p.HasDocument {
		return &templates.TestResult{Kind: templates.StateOK, Summary: i18n.T(ctx, "No document. Add custom endpoints after saving.")}
	}
	if p.Server != "" {
		p.About.Servers = []string{p.Server}
	}
	result := &templates.TestResult{
		Kind:    templates.StateOK,
		Summary: i18n.N(ctx, p.Operations, "%[2]s has %[1]s operation.", "%[2]s has %[1]s operations.", formatTitle(ctx, p.About)),
		Name:    shell.ShortenText(shell.CleanText(p.About.Title), connectors.MaxName),
		Facts:   aboutFacts(ctx, p.About, p.Operations),
	}
	if len(p.SignIn) == 0 {
		return result
	}
	first := p.SignIn[0]
	name := shell.AuthName(ctx, connectors.AuthType(first.Type))
	result.Facts = append(result.Facts, templates.Fact{Label: i18n.T(ctx, "Suggested authentication"), Value: name})
	if first.TokenURL != "" { // gets the client's secret
		result.Facts = append(result.Facts, templates.Fact{Label: i18n.T(ctx, "Token endpoint"), Value: shell.CleanText(first.TokenURL), Mono: true})
	}
	if first.Type != string(now) {
		result.SignIn = &templates.SignInOffer{Auth: first.Type, Name: name, Header: first.Name, In: strings.TrimPrefix(first.In, "header")}
	}
	return result
}

func formatTitle(ctx context.Context, about manage.APIDocumentFacts) string {
	title := shell.CleanText(cmp.Or(about.Title, i18n.T(ctx, "The document")))
	if about.Version != "" {
		title += " " + shell.CleanText(about.Version)
	}
	return title
}

// useSignIn fills the form of a person without script in, unless an authentication was chosen.
func useSignIn(form templates.Form, result *templates.TestResult) {
	if chosen := form.Value("auth.type"); chosen != "" && chosen != string(connectors.AuthNone) {
		return
	}
	form.Values["auth.type"], form.Values["auth.header"], form.Values["auth.in"] = result.SignIn.Auth, result.SignIn.Header, result.SignIn.In
	result.SignIn = nil
}

// findDocument looks whether the URL of an MCP server that did not answer leads to the document of an HTTP API. nil: it
// doesn't.
func (h *Handler) findDocument(r *http.Request, d connectors.Draft) *templates.TestResult {
	if d.Transport == connectors.TransportStdio || r.Context().Err() != nil {
		return nil
	}
	d.Timeout = min(d.Timeout, testTimeout)
	p, err := h.Registry.PreviewAPI(r.Context(), shell.Actor(r), d, manage.APIContent{})
	if err != nil || p.Operations == 0 {
		return nil
	}
	ctx := r.Context()
	return &templates.TestResult{
		Kind:    templates.StateWarn,
		Summary: i18n.N(ctx, p.Operations, "This is an HTTP API: %[2]s with %[1]s operation.", "This is an HTTP API: %[2]s with %[1]s operations.", formatTitle(ctx, p.About)),
		Facts:   aboutFacts(ctx, p.About, p.Operations),
		Action:  &templates.Link{Text: i18n.T(ctx, "Add as HTTP API"), Href: shell.WithQuery("/connectors/new", url.Values{"kind": {"http"}, "url": {d.URL}})},
	}
}
