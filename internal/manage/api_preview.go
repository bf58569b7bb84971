package manage

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"slices"

	"patchbay/internal/apitools"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/openapi"
	"patchbay/internal/safehttp"
)

// maxPreviews bounds the documents that a tenant's people read at once before anything is stored.
const maxPreviews = 4

// APIPreview is what a new connector to an HTTP API would be.
type APIPreview struct {
	About       APIDocumentFacts
	HasDocument bool
	Operations  int                // of the document
	Server      string             // address that gets the requests of the document's operations; empty: it names none that can be used
	SignIn      []openapi.Proposal // ways to sign in that the document offers, the most useful first
	Tools       []openapi.Tool     // of picked operations and endpoints
	Error       *fault.Error       // why the document cannot be read; nil: it can, or there is none
}

// TestAPI is [Registry.PreviewAPI] of a draft that could be stored, except that it needs no secret: none is sent.
func (r *Registry) TestAPI(ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret, content APIContent) (p APIPreview, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return p, err
	}
	d, s, err = normalizeAPI(d, s, content)
	if err != nil {
		return p, err
	}
	checked := d
	if content.fetchesDocument() {
		checked.URL = "" // the client of documents applies the egress rules
	}
	fields := slices.Concat(d.Validate(), d.ValidateSecret(s, false), checkClientID(d, s), credentials.ValidateKey(d.Auth.Type, d.OAuth, s, "auth."))
	if err := fault.InvalidFields(append(fields, r.checkEgress(checked, fields, connectors.Draft{})...)...); err != nil {
		return p, err
	}
	return r.PreviewAPI(ctx, a, d, content)
}

// PreviewAPI reads the document of a new connector to an HTTP API, and stores only an audit entry. An error concerns the draft or
// Patchbay; failures of the document and its server are in the preview.
func (r *Registry) PreviewAPI(ctx context.Context, a auth.Actor, d connectors.Draft, content APIContent) (p APIPreview, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return p, err
	}
	if !r.previews.TryAcquire(a.Tenant.ID) {
		return p, fault.Errorf(fault.RateLimited, "%d documents are being read right now. Try again in a moment.", maxPreviews)
	}
	defer r.previews.Release(a.Tenant.ID)
	e := a.Event("connector.test", cmp.Or(d.Slug, d.Name))
	e.Detail = map[string]any{"transport": connectors.TransportAPI, "origin": connectors.Origin(d.URL)}
	if err := r.store.Tenant(a.Tenant.ID).Audit().Record(ctx, e); err != nil {
		return p, err
	}
	api := storedAPI{at: apitools.NewAddresses(d.Settings)}
	if api.document, err = r.readDocument(ctx, a, d, content); err != nil {
		return p.withFailure(err)
	}
	err = apitools.TakeTurn(ctx, a.Tenant.ID, func() (err error) {
		p, err = r.previewDocument(api, content)
		return err
	})
	return p, err
}

// previewDocument is [Registry.PreviewAPI] of a document that has been read.
func (r *Registry) previewDocument(api storedAPI, content APIContent) (p APIPreview, err error) {
	if err := api.parseDocument(); err != nil {
		return p.withFailure(err)
	}
	picked, err := r.newTools(api, content)
	if err != nil {
		return p, err
	}
	if api.parsed != nil {
		p.HasDocument, p.About, p.Operations = true, documentFacts(api.parsed), len(api.parsed.Operations)
		p.SignIn = ProposeCredentials(api.parsed, content.Operations)
		if p.Server, err = api.parsed.Address(content.Operations...); err != nil {
			p.Server = ""
		}
	}
	p.Tools, err = api.makeTools(picked)
	return p, err
}

// withFailure adds a failure of the document or its server. It returns all others.
func (p APIPreview) withFailure(err error) (APIPreview, error) {
	f := *fault.As(err)
	switch f.Kind {
	case fault.Upstream:
	case fault.Invalid:
		f.Code = cmp.Or(f.Code, "invalid_document")
	case fault.TooLarge:
		f.Code = cmp.Or(f.Code, string(mcp.ReasonTooLarge))
	default:
		return p, err
	}
	p.Error = &f
	return p, nil
}

// makeTools makes the tools of picked operations and endpoints, in their order.
func (api storedAPI) makeTools(picked []connectors.APITool) (tools []openapi.Tool, err error) {
	for _, t := range picked {
		var tool *openapi.Tool
		if t.Endpoint != nil {
			var e openapi.Endpoint
			if e, err = readEndpoint(t); err == nil {
				tool, err = e.Tool()
			}
		} else {
			tool, err = api.parsed.Tool(api.findOperation(t.Key))
		}
		if err != nil {
			return nil, err
		}
		tools = append(tools, *tool)
	}
	return tools, nil
}

// FindServer returns the address of the API that a document names; empty: it names none.
func FindServer(ctx context.Context, a auth.Actor, document []byte) (address string) {
	_ = apitools.TakeTurn(ctx, a.Tenant.ID, func() error {
		d, err := apitools.Read(document, apitools.Addresses{}, nil)
		if err == nil {
			address, err = d.Address()
		}
		return err
	})
	return address
}

// phaseDocument is the phase of failures on the way to a document.
const phaseDocument = "document"

// explainDocument says why a document could not be requested, with the codes of the tests of MCP servers.
func explainDocument(err error) error {
	if _, known := errors.AsType[*fault.Error](err); known || err == nil {
		return err
	}
	f := &fault.Error{Kind: fault.Upstream, Code: string(mcp.ReasonUnreachable), Remote: &fault.Remote{Phase: phaseDocument, Retryable: true}, Err: err}
	slow, isNet := errors.AsType[net.Error](err)
	_, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	blocked, isBlocked := errors.AsType[*safehttp.BlockedError](err)
	proxy, isProxy := errors.AsType[*safehttp.ProxyError](err)
	switch {
	case isBlocked:
		f.Code, f.Message, f.Remote.Retryable = "blocked", blocked.Why, false
	case isProxy:
		f.Code, f.Message, f.Remote.Retryable = "egress_proxy", proxy.Why, !proxy.Forbidden()
	case errors.Is(err, context.DeadlineExceeded) || isNet && slow.Timeout():
		f.Code, f.Message = string(mcp.ReasonTimeout), "The document's server didn't answer in time. Try again later."
	case isCertificate || errors.Is(err, http.ErrSchemeMismatch):
		f.Code, f.Message = string(mcp.ReasonTLS), "TLS to the document's server failed. Check the URL and the server's certificate."
	default:
		f.Message = "The document's server can't be reached. Check the URL and that the server is running."
	}
	return f
}
