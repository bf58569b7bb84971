package scim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"time"

	scimerrors "github.com/elimity-com/scim/errors"
	"github.com/go-chi/chi/v5"
	chimiddleware "github.com/go-chi/chi/v5/middleware"
	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/internal/safe"
	"patchbay/internal/secret"
)

// pathPrefix is the path of the SCIM address.
const pathPrefix = "/scim/v2/"

// IsPath reports whether a path is SCIM's, with its form of errors.
func IsPath(path string) bool { return strings.HasPrefix(path, "/scim/") }

// Mount mounts the routes.
func (s *Service) Mount(r chi.Router) {
	r.Group(func(r chi.Router) {
		r.Use(middleware.Authenticate(s.identifyProvider, s.WriteError))
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			r.Method(method, pathPrefix+"*", http.HandlerFunc(s.serveRequest))
		}
	})
}

// provider is the identity provider that sent a request.
type provider struct {
	actor   auth.Actor
	token   uuid.UUID
	failure error // of the request, for the response; nil: the library's
}

type providerKey struct{}

func providerFrom(ctx context.Context) *provider { return ctx.Value(providerKey{}).(*provider) }

// identifyProvider finds the tenant of the request's token.
func (s *Service) identifyProvider(r *http.Request) (context.Context, []slog.Attr, error) {
	ctx := r.Context()
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token, ok := secret.ParseBearer(secret.SCIMBearer, secret.Text(strings.TrimSpace(text)))
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ctx, nil, newTokenError("Send the SCIM token as Authorization: Bearer pb_scim_….")
	}
	stored, err := s.store.System().Sessions().SCIMToken(ctx, token.ID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return ctx, nil, err
	}
	if err != nil || s.store.VerifyBearer(ctx, token, stored.SecretMAC) != nil {
		return ctx, nil, newTokenError("Unknown or replaced SCIM token.")
	}
	s.recordRequest(ctx, stored.Tenant.ID, stored.LastRequestAt)
	p := &provider{token: token.ID, actor: auth.Actor{
		Kind: auth.KindSCIM, Tenant: stored.Tenant, Name: "SCIM", RequestID: chimiddleware.GetReqID(ctx), Address: auth.Address(r),
	}}
	return context.WithValue(ctx, providerKey{}, p), []slog.Attr{slog.String("tenant_id", stored.Tenant.ID.String()), slog.String("caller", "scim")}, nil
}

func newTokenError(sentence string) error { return fault.Errorf(fault.Unauthenticated, "%s", sentence) }

// recordRequest records a request at most once a minute.
func (s *Service) recordRequest(ctx context.Context, tenant connectors.TenantID, last *time.Time) {
	if last != nil && s.now().Sub(*last) < time.Minute {
		return
	}
	if err := s.store.Tenant(tenant).SCIM().Touch(ctx); err != nil {
		s.log.WarnContext(ctx, "scim request not recorded", slog.String("tenant_id", tenant.String()), slog.Any("error", err))
	}
}

// serveRequest checks a request's bounds and lets the library answer it.
func (s *Service) serveRequest(w http.ResponseWriter, r *http.Request) {
	p := providerFrom(r.Context())
	if wait, _ := s.tenants.Take(p.actor.Tenant.ID.UUID, s.now()); wait > 0 && s.rate > 0 {
		s.throttled("tenant")
		s.WriteError(w, r, middleware.NewRateLimitError(wait, "More than %d SCIM requests a second. Retry after the time in Retry-After.", s.rate))
		return
	}
	if err := s.requests.Acquire(r.Context(), p.actor.Tenant.ID); err != nil {
		s.WriteError(w, r, err)
		return
	}
	defer s.requests.Release(p.actor.Tenant.ID)
	if err := checkRequest(w, r); err != nil {
		s.WriteError(w, r, err)
		return
	}
	made := &keptResponse{header: http.Header{}}
	r.URL.Path = "/" + strings.TrimPrefix(r.URL.Path, pathPrefix)
	s.server.ServeHTTP(made, r)
	if p.failure != nil {
		s.WriteError(w, r, p.failure)
		return
	}
	switch {
	case isUnchanged(r, made.header, made.status):
		made.status = http.StatusNotModified
		made.body.Reset()
	case r.URL.Path == "/ServiceProviderConfig": // the library has no setting for it
		made.body = *bytes.NewBuffer(bytes.Replace(made.body.Bytes(), []byte(`"etag":{"supported":false}`), []byte(`"etag":{"supported":true}`), 1))
	}
	made.writeTo(w)
}

// keptResponse keeps what the library answers, so that a failure of ours can replace it.
type keptResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header to send.
func (p *keptResponse) Header() http.Header { return p.header }

// WriteHeader keeps the first status.
func (p *keptResponse) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
}

// Write keeps b.
func (p *keptResponse) Write(b []byte) (int, error) { return p.body.Write(b) }

func (p *keptResponse) writeTo(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.header)
	w.Header().Set("Cache-Control", "no-store")
	if p.status == 0 {
		p.status = http.StatusOK
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(p.body.Bytes()) // the client may be gone
}

// checkRequest reads the body, and refuses what is too large or too deep for the library.
func checkRequest(w http.ResponseWriter, r *http.Request) error {
	if filter := r.URL.Query().Get("filter"); !isFlat(filter) {
		return newSCIMError(http.StatusBadRequest, scimerrors.ScimTypeInvalidFilter, "The filter is too long or too deep.")
	}
	expandWorkEmail(r)
	if r.Method == http.MethodGet || r.Method == http.MethodDelete {
		r.Body = http.NoBody
		return nil
	}
	middleware.SetBodyLimit(w, r, maxBody)
	body, err := io.ReadAll(r.Body)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return fault.Errorf(fault.TooLarge, "A body has at most %d KiB.", maxBody>>10)
	}
	if err != nil {
		return fault.Wrap(fault.Malformed, err, "The body ended early.")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.Method == http.MethodPatch {
		return checkPatch(body)
	}
	return nil
}

// checkPatch refuses too many operations, and paths that are too long or too deep. Attribute names are parsed as paths too.
func checkPatch(body []byte) error {
	var patch struct {
		Operations []struct {
			Path  string          `json:"path"`
			Value json.RawMessage `json:"value"`
		}
	}
	if json.Unmarshal(body, &patch) != nil {
		return newSCIMError(http.StatusBadRequest, scimerrors.ScimTypeInvalidSyntax, "The body is not a PATCH request.")
	}
	if len(patch.Operations) > maxPatchOps {
		return newSCIMError(http.StatusBadRequest, scimerrors.ScimTypeTooMany, "Too many operations.")
	}
	for _, op := range patch.Operations {
		if !isFlat(op.Path) {
			return newSCIMError(http.StatusBadRequest, scimerrors.ScimTypeInvalidPath, "A path is too long or too deep.")
		}
		if !hasFlatNames(op.Value, 2) {
			return newSCIMError(http.StatusBadRequest, scimerrors.ScimTypeInvalidPath, "An attribute name is too long or too deep.")
		}
	}
	return nil
}

// hasFlatNames reports whether the names of a JSON object, and of the objects in it to a depth, are flat.
func hasFlatNames(value json.RawMessage, depth int) bool {
	var object map[string]json.RawMessage
	if depth == 0 || json.Unmarshal(value, &object) != nil {
		return true
	}
	for name, member := range object {
		if !isFlat(name) || !hasFlatNames(member, depth-1) {
			return false
		}
	}
	return true
}

// isFlat reports whether a filter or path is short, without deep parentheses: the parser tries each several ways.
func isFlat(filter string) bool {
	return len(filter) <= maxFilter && strings.Count(filter, "(")+strings.Count(filter, "[") <= maxNesting
}

func newSCIMError(status int, kind scimerrors.ScimType, detail string) error {
	return scimerrors.ScimError{Status: status, ScimType: kind, Detail: detail}
}

// WriteError writes an error in SCIM's form (RFC 7644 section 3.12).
func (s *Service) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	known, ok := errors.AsType[scimerrors.ScimError](err)
	if !ok {
		f := respond.Fault(err)
		if f.Kind == fault.Internal && r.Context().Err() == nil && !safe.IsPanic(err) {
			s.log.ErrorContext(r.Context(), "request failed", slog.String("request_id", chimiddleware.GetReqID(r.Context())), slog.Any("error", err))
		}
		respond.SetRetryAfter(w.Header(), f)
		if f.Kind == fault.Unauthenticated {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		known = toSCIMError(f)
	}
	w.Header().Set("Content-Type", "application/scim+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(known.Status)
	_ = json.NewEncoder(w).Encode(known) // the client may be gone
}

// toSCIMError returns a fault as SCIM's error.
func toSCIMError(f *fault.Error) scimerrors.ScimError {
	e := scimerrors.ScimError{Status: respond.Status(f.Kind), Detail: f.Message}
	switch f.Kind {
	case fault.Invalid:
		e.Status, e.ScimType = http.StatusBadRequest, scimerrors.ScimTypeInvalidValue
	case fault.Conflict:
		if len(f.Fields) > 0 { // of a unique attribute
			e.ScimType = scimerrors.ScimTypeUniqueness
		}
	}
	return e
}
