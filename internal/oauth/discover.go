package oauth

import (
	"context"
	"net/url"
	"time"
)

// maxDiscovery bounds all requests of a discovery in total.
const maxDiscovery = 60 * time.Second

// Target is what to discover.
type Target struct {
	ServerURL string // of the MCP server
	// ResourceMetadata is the challenge's resource_metadata URL; empty: none.
	ResourceMetadata string
	Overrides        Overrides
	// TakesProofs: the MCP server's challenge has the DPoP scheme.
	TakesProofs bool
	// IsAPI: the server is an HTTP API. It is not asked for its authorization server, which the overrides name, and no resource is
	// sent unless they name one.
	IsAPI bool
}

// Overrides are an admin's settings in place of the servers' metadata. The zero value has none.
type Overrides struct {
	Issuer                   string
	AuthorizationEndpoint    string
	TokenEndpoint            string
	Resource                 *string // nil: as published; "": not sent
	TokenEndpointAuthMethod  AuthMethod
	AllowMissingPKCEMetadata bool
}

// Discovery is the result.
type Discovery struct {
	Server Metadata
	// Resource is sent in every request, exactly as published (RFC 8707); empty: not sent.
	Resource string
	// ResourceScopes are the scopes that the protected resource lists.
	ResourceScopes []string
	Trace          []TraceStep
}

// Discover finds the authorization server of an MCP server. The Discovery is never nil: with an error, its
// Trace has the steps so far.
//
// The order is that of the MCP specification: the challenge's metadata URL, the path-aware well-known URL, the
// root one; then the authorization servers of that document, by their well-known documents. Without a
// protected-resource document the MCP server's origin is the issuer, with default endpoints if that has no
// document either (MCP 2025-03-26).
func (c *Client) Discover(ctx context.Context, t Target) (*Discovery, error) {
	d := &discovery{client: c, target: t, found: &Discovery{}}
	ctx, cancel := context.WithTimeout(ctx, maxDiscovery)
	defer cancel()
	if err := d.run(ctx); err != nil {
		return d.found, err
	}
	return d.found, nil
}

// discovery is one run.
type discovery struct {
	client *Client
	target Target
	server *url.URL
	found  *Discovery

	takesProofs bool   // by the resource
	temporary   *Error // first failure that may be temporary
	mismatch    *Error // first document of another issuer
	forbidden   *Error // first issuer that must not be contacted
}

func (d *discovery) run(ctx context.Context) error {
	d.convertTarget()
	if err := d.client.checkURL(StepResource, "server URL", d.target.ServerURL); err != nil {
		return err
	}
	if err := d.checkOverrides(); err != nil {
		return err
	}
	d.server, _ = parsePlainURL(d.target.ServerURL)
	find := d.findForResource
	if d.target.IsAPI {
		find = d.findForAPI
	}
	if err := find(ctx); err != nil {
		return err
	}
	if !d.takesProofs {
		// A resource that knows bearer tokens alone would refuse bound ones, whatever its authorization server offers.
		d.found.Server.DPoPSigningAlgs = nil
	}
	d.found.Server.PinnedAuthMethod = d.target.Overrides.TokenEndpointAuthMethod
	d.found.Server.AllowMissingPKCE = d.target.Overrides.AllowMissingPKCEMetadata
	return nil
}

// findForResource finds the authorization server that the resource names.
func (d *discovery) findForResource(ctx context.Context) error {
	resource, err := d.findResource(ctx)
	if err != nil {
		return err
	}
	d.found.ResourceScopes, d.takesProofs = resource.ScopesSupported, d.target.TakesProofs || resource.TakesProofs
	d.chooseResource(resource)
	return d.findServer(ctx, resource.AuthorizationServers)
}

// findForAPI finds the authorization server that the overrides name. Endpoints without an issuer need no request.
func (d *discovery) findForAPI(ctx context.Context) error {
	d.chooseResource(ResourceMetadata{})
	o := d.target.Overrides
	if o.Issuer != "" {
		return d.findServer(ctx, nil)
	}
	token, ok := parsePlainURL(o.TokenEndpoint)
	if !ok {
		return newRefusal(StepServer, "the connector names no authorization server; enter its token endpoint or its issuer in the connector's settings")
	}
	d.found.Server = Metadata{Issuer: originURL(token), Assumed: true}
	d.pinEndpoints()
	return nil
}

// convertTarget writes the target's hosts in xn-- form. The configured issuer stays as entered: its document is
// compared with it (RFC 8414 section 3.3).
func (d *discovery) convertTarget() {
	o := &d.target.Overrides
	for _, raw := range []*string{&d.target.ServerURL, &d.target.ResourceMetadata, &o.AuthorizationEndpoint, &o.TokenEndpoint} {
		*raw = d.client.asciiURL(*raw)
	}
}

func (d *discovery) checkOverrides() *Error {
	o := d.target.Overrides
	for what, raw := range map[string]string{
		"configured issuer":                 d.client.asciiURL(o.Issuer),
		"configured authorization endpoint": o.AuthorizationEndpoint,
		"configured token endpoint":         o.TokenEndpoint,
	} {
		if raw == "" {
			continue
		}
		if err := d.client.checkURL(StepServer, what, raw); err != nil {
			return err
		}
	}
	if m := o.TokenEndpointAuthMethod; m != "" && !m.isKnown() {
		return newRefusal(StepServer, "the configured token endpoint auth method is unknown")
	}
	return nil
}

func (d *discovery) chooseResource(m ResourceMetadata) {
	step := TraceStep{Step: StepResource}
	pinned := d.target.Overrides.Resource
	switch {
	case pinned != nil && *pinned == "":
		d.addTrace(step, "No resource sent, as configured.")
	case pinned != nil:
		d.found.Resource = *pinned
		d.addTrace(step, "Sending the connector's resource.")
	case m.Resource == "":
		d.addTrace(step, "No resource sent: none published.")
	default:
		d.found.Resource = m.Resource
	}
}

// fetchDocument fetches one document.
func (d *discovery) fetchDocument(ctx context.Context, step Step, raw string) fetchAttempt {
	t := fetchAttempt{TraceStep: TraceStep{Step: step, URL: shownURL(raw)}}
	a, err := d.client.sendRequest(ctx, httpRequest{step: step, url: raw})
	t.Status = a.status
	switch {
	case err != nil:
		t.cause, t.forbidden = err, err.Kind == KindRefused
		t.temporary, t.Read = err.Kind == KindTemporary, err.Detail
	case !a.isOK():
		t.cause, t.temporary, t.Read = a.toError(step), a.isTemporary(), readFailure(a)
	default:
		t.body, t.Read = a.body, readFailure(a)
	}
	if t.temporary && d.temporary == nil {
		d.temporary = t.cause
		d.temporary.Kind = KindTemporary // a fetch has no effect, so its outcome is never unknown
	}
	return t
}
