package oauth

import (
	"context"
	"net/url"
	"time"
)

// maxDiscovery bounds all looks together.
const maxDiscovery = 60 * time.Second

// Target says what to discover.
type Target struct {
	ServerURL string // of the MCP server
	// ResourceMetadata is the URL that a challenge named in resource_metadata; empty: none did.
	ResourceMetadata string
	Overrides        Overrides
}

// Overrides are what an admin sets in place of what servers say. The zero value leaves everything to them.
type Overrides struct {
	Issuer                   string
	AuthorizationEndpoint    string
	TokenEndpoint            string
	Resource                 *string // nil: as published; "": none is sent
	TokenEndpointAuthMethod  AuthMethod
	AllowMissingPKCEMetadata bool
}

// Discovery is what was found.
type Discovery struct {
	Server Metadata
	// Resource goes into every request to the server, byte for byte as published (RFC 8707); empty: none is sent.
	Resource string
	// ResourceScopes are what the protected resource lists.
	ResourceScopes []string
	Trace          []TraceStep
}

// Discover finds the authorization server of an MCP server. The Discovery is never nil: with an error, its Trace tells
// how far it came.
//
// In the order of the MCP specification: the challenge's metadata URL, the path-aware well-known, the root one; the
// servers that the document names, each by its well-known documents; without a protected-resource document, the MCP
// server's own origin is the issuer, with default endpoints where that has no document either (MCP 2025-03-26).
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
	client    *Client
	target    Target
	server    *url.URL
	found     *Discovery
	temporary *Error // the first look that may go another way later
	mismatch  *Error // the first document that is another issuer's
	forbidden *Error // the first issuer that may not be contacted
}

func (d *discovery) run(ctx context.Context) error {
	if err := d.client.checkURL(StepResource, "server URL", d.target.ServerURL); err != nil {
		return err
	}
	if err := d.checkOverrides(); err != nil {
		return err
	}
	d.server, _ = plainURL(d.target.ServerURL)
	resource, err := d.findResource(ctx)
	if err != nil {
		return err
	}
	d.found.ResourceScopes = resource.ScopesSupported
	d.chooseResource(resource)
	if err := d.findServer(ctx, resource.AuthorizationServers); err != nil {
		return err
	}
	d.found.Server.PinnedAuthMethod = d.target.Overrides.TokenEndpointAuthMethod
	d.found.Server.AllowMissingPKCE = d.target.Overrides.AllowMissingPKCEMetadata
	return nil
}

func (d *discovery) checkOverrides() *Error {
	o := d.target.Overrides
	for what, raw := range map[string]string{
		"configured issuer":                 o.Issuer,
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
	if m := o.TokenEndpointAuthMethod; m != "" && !m.known() {
		return refused(StepServer, "the configured token endpoint auth method is not one that we know")
	}
	return nil
}

func (d *discovery) chooseResource(m ResourceMetadata) {
	step := TraceStep{Step: StepResource}
	pinned := d.target.Overrides.Resource
	switch {
	case pinned != nil && *pinned == "":
		d.note(step, "No resource is sent: the connector says so.")
	case pinned != nil:
		d.found.Resource = *pinned
		d.note(step, "The connector's own resource is sent.")
	case m.Resource == "":
		d.note(step, "No resource is sent: none is published.")
	default:
		d.found.Resource = m.Resource
	}
}

// look gets one document.
func (d *discovery) look(ctx context.Context, step Step, raw string) tried {
	t := tried{TraceStep: TraceStep{Step: step, URL: shownURL(raw)}}
	a, err := d.client.send(ctx, request{step: step, url: raw})
	t.Status = a.status
	switch {
	case err != nil:
		t.cause, t.forbidden = err, err.Kind == KindRefused
		t.temporary, t.Read = err.Kind == KindTemporary, err.Detail
	case !a.ok():
		t.cause, t.temporary, t.Read = a.refusal(step), a.isTemporary(), readFailure(a)
	default:
		t.body, t.Read = a.body, readFailure(a)
	}
	if t.temporary && d.temporary == nil {
		d.temporary = t.cause
		d.temporary.Kind = KindTemporary // a look has no effect, so its outcome is never unknown
	}
	return t
}
