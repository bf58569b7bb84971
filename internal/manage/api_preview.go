package manage

import (
	"context"
	"errors"
	"slices"
	"strings"

	"patchbay/internal/apitools"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/openapi"
	"patchbay/internal/safehttp"
)

// maxPreviews bounds the documents that a tenant's people read at once before anything is stored.
const maxPreviews = 4

// APIPreview is what the document of a new connector says.
type APIPreview struct {
	About      APIDocumentFacts
	Operations int
	SignIn     *ProposedSignIn // nil: none, or none that is supported
}

// ProposedSignIn is the authentication that a document asks for.
type ProposedSignIn struct {
	Auth  connectors.Auth
	OAuth connectors.OAuthSettings
}

// PreviewAPI reads the document of a new connector to an HTTP API, and stores only an audit entry. Failures of the server are
// faults of the kind Upstream.
func (r *Registry) PreviewAPI(ctx context.Context, a auth.Actor, d connectors.Draft, content APIContent) (p APIPreview, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return p, err
	}
	if !r.previews.TryAcquire(a.Tenant.ID) {
		return p, fault.Errorf(fault.RateLimited, "%d documents are already being read. Try again when one ends.", maxPreviews)
	}
	defer r.previews.Release(a.Tenant.ID)
	if err := r.store.Tenant(a.Tenant.ID).Audit().Record(ctx, a.Event("connector.test", d.URL)); err != nil {
		return p, err
	}
	document, err := r.readDocument(ctx, a, d, content)
	if err != nil || document == nil {
		return p, err
	}
	r.index.reading.Lock()
	defer r.index.reading.Unlock()
	index, err := readIndex(document.Body, d.URL)
	if err != nil {
		return p, err
	}
	return APIPreview{About: index.about, Operations: len(index.operations), SignIn: index.signIn}, nil
}

// FindServer returns the absolute address of a document's first server; empty: it has none.
func FindServer(document []byte) string {
	d, err := apitools.Read(document, "")
	if err != nil {
		return ""
	}
	for _, s := range d.Servers {
		if address, err := s.Resolve(nil, ""); err == nil {
			return address
		}
	}
	return ""
}

// explainDocument says why a document could not be requested.
func explainDocument(err error) error {
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return fault.Wrap(fault.Upstream, err, blocked.Why)
	}
	if _, known := errors.AsType[*fault.Error](err); known || err == nil {
		return err
	}
	return fault.Wrap(fault.Upstream, err, "The document's server can't be reached. Check the URL and that the server is running.")
}

// proposeSignIn returns the authentication that most operations take, among those that are supported.
func proposeSignIn(d *openapi.Document) *ProposedSignIn {
	uses := map[string]int{}
	for _, o := range d.Operations {
		for _, requirement := range o.Security {
			if len(requirement) == 1 {
				uses[requirement[0].Scheme]++
			}
		}
	}
	var best *ProposedSignIn
	most := -1
	for _, s := range d.Schemes {
		if proposed := toSignIn(s); proposed != nil && uses[s.Name] > most {
			best, most = proposed, uses[s.Name]
		}
	}
	return best
}

// toSignIn returns the authentication of a scheme; nil: it isn't supported.
func toSignIn(s openapi.SecurityScheme) *ProposedSignIn {
	switch s.Type {
	case openapi.SchemeBearer:
		return &ProposedSignIn{Auth: connectors.Auth{Type: connectors.AuthBearer}}
	case openapi.SchemeBasic:
		return &ProposedSignIn{Auth: connectors.Auth{Type: connectors.AuthBasic}}
	case openapi.SchemeAPIKey:
		if s.In == "header" {
			return &ProposedSignIn{Auth: connectors.Auth{Type: connectors.AuthAPIKey, Header: s.Parameter}}
		}
	case openapi.SchemeOpenIDConnect:
		issuer := strings.TrimSuffix(s.OpenIDConnectURL, "/.well-known/openid-configuration")
		return &ProposedSignIn{Auth: connectors.Auth{Type: connectors.AuthOAuth2}, OAuth: connectors.OAuthSettings{Issuer: issuer, Resource: new("")}}
	case openapi.SchemeOAuth2:
		return flowSignIn(s.Flows)
	}
	return nil
}

func flowSignIn(flows []openapi.Flow) *ProposedSignIn {
	kinds := []struct {
		flow string
		auth connectors.AuthType
	}{{"authorizationCode", connectors.AuthOAuth2}, {"clientCredentials", connectors.AuthClientCredentials}}
	for _, kind := range kinds {
		if at := slices.IndexFunc(flows, func(f openapi.Flow) bool { return f.Kind == kind.flow }); at >= 0 {
			return &ProposedSignIn{Auth: connectors.Auth{Type: kind.auth}, OAuth: connectors.OAuthSettings{
				AuthorizationEndpoint: flows[at].AuthorizationURL, TokenEndpoint: flows[at].TokenURL, Resource: new(""),
			}}
		}
	}
	return nil
}
