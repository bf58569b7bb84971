package manage

import (
	"context"
	"errors"

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
	SignIn     *openapi.Proposal // nil: none, or none that is supported
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

// FindServer returns the address of the API that a document names; empty: it names none.
func FindServer(document []byte) string {
	d, err := apitools.Read(document, "")
	if err != nil {
		return ""
	}
	address, err := d.Address()
	if err != nil {
		return ""
	}
	return address
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

// proposeSignIn returns the authentication that most operations take; nil: none that is supported.
func proposeSignIn(d *openapi.Document) *openapi.Proposal {
	if all := d.Proposals(d.Operations); len(all) > 0 {
		return &all[0]
	}
	return nil
}
