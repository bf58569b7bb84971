package publicregistry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	chimiddleware "github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/safe"
	"patchbay/internal/secret"
)

// pathPrefix is the path of all registries.
const pathPrefix = "/registry/"

// IsPath reports whether a path is a registry's, with its form of errors.
func IsPath(path string) bool { return strings.HasPrefix(path, pathPrefix) }

// Mount mounts the routes of registries. Their pattern has no secret: it is what logs and traces name.
func (s *Service) Mount(r chi.Router) {
	r.Get(pathPrefix+"*", s.serveDocument)
	r.Options(pathPrefix+"*", servePreflight)
}

// reader is a client that may read a registry.
type reader struct {
	tenant   connectors.TenantID
	registry connectors.Registry
	agent    *connectors.AgentID // lists what this agent may use; nil: what the registry's agents may use
}

func (s *Service) serveDocument(w http.ResponseWriter, r *http.Request) {
	body, err := s.encodeDocument(r)
	if err != nil {
		s.WriteError(w, r, err)
		return
	}
	tag := entityTag(body)
	setCORS(w.Header())
	w.Header().Set("Cache-Control", "private, no-cache")
	w.Header().Add("Vary", "Authorization")
	w.Header().Set("ETag", tag)
	if hasTag(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client may be gone
}

// encodeDocument returns the document asked for.
func (s *Service) encodeDocument(r *http.Request) ([]byte, error) {
	address, rest := splitPath(r.URL)
	reader, err := s.findReader(r, address)
	if err != nil {
		return nil, err
	}
	ask, err := s.parseRequest(r, rest)
	if err != nil {
		return nil, err
	}
	var document any
	switch {
	case ask.slug == "":
		document, err = s.listEntries(r.Context(), reader, &ask)
	case ask.versions:
		var entry entryDocument
		entry, err = s.findEntry(r.Context(), reader, &ask)
		document = listDocument{Servers: []entryDocument{entry}, Metadata: listMetadata{Count: 1}}
	default:
		document, err = s.findEntry(r.Context(), reader, &ask)
	}
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encode a registry: %w", err)
	}
	return append(body, '\n'), nil
}

// findReader finds the registry at an address, and checks the client's token if the registry requires one.
func (s *Service) findReader(r *http.Request, address secret.Text) (reader, error) {
	ctx := r.Context()
	tenant, registry, err := s.store.System().Sessions().Registry(ctx, hashAddress(address))
	if fault.Is(err, fault.NotFound) {
		return reader{}, newNotFound()
	}
	if err != nil {
		return reader{}, err
	}
	found := reader{tenant: tenant, registry: registry}
	if registry.TokenRequired {
		if found.agent, err = s.findAgent(ctx, tenant, r.Header.Get("Authorization")); err != nil {
			return reader{}, err
		}
	}
	s.recordUse(ctx, found)
	return found, nil
}

// findAgent returns the agent of a gateway token. The agent must be the tenant's. Tokens for one connector's address
// are refused: they are for nothing else (RFC 8707).
func (s *Service) findAgent(ctx context.Context, tenant connectors.TenantID, header string) (*connectors.AgentID, error) {
	scheme, text, _ := strings.Cut(header, " ")
	token, ok := secret.ParseBearer(secret.AgentBearer, secret.Text(strings.TrimSpace(text)))
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return nil, newTokenError("Send an agent's token as Authorization: Bearer pb_agent_….")
	}
	stored, err := s.store.System().Sessions().AgentToken(ctx, connectors.AgentTokenID{UUID: token.ID})
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	expires := stored.Token.ExpiresAt
	if err != nil || stored.Tenant != tenant || stored.Resource != "" || s.store.VerifyBearer(ctx, token, stored.SecretMAC) != nil ||
		expires != nil && !expires.After(s.now()) {
		return nil, newTokenError("Unknown or expired token.")
	}
	return &stored.Token.AgentID, nil
}

func newTokenError(sentence string) error { return fault.Errorf(fault.Unauthenticated, "%s", sentence) }

// recordUse records the use of a registry at most once a minute.
func (s *Service) recordUse(ctx context.Context, r reader) {
	if used := r.registry.LastUsedAt; used != nil && s.now().Sub(*used) < time.Minute {
		return
	}
	if err := s.store.Tenant(r.tenant).Registries().Touch(ctx, r.registry.ID); err != nil {
		s.log.WarnContext(ctx, "registry use not recorded", slog.String("registry_id", r.registry.ID.String()), slog.Any("error", err))
	}
}

// servePreflight answers a browser's question whether another site's page may read registries.
func servePreflight(w http.ResponseWriter, _ *http.Request) {
	setCORS(w.Header())
	w.Header().Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}

// setCORS allows pages of any site to read the answer. They need the address, and no cookie is looked at.
func setCORS(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Allow-Methods", "GET, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-None-Match")
	h.Set("Access-Control-Expose-Headers", "ETag")
}

// WriteError writes an error in the form of the registries' API.
func (s *Service) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	f := respond.Fault(err)
	if f.Kind == fault.Internal && r.Context().Err() == nil && !safe.IsPanic(err) {
		s.log.ErrorContext(r.Context(), "request failed", slog.String("request_id", chimiddleware.GetReqID(r.Context())), slog.Any("error", err))
	}
	setCORS(w.Header())
	respond.SetRetryAfter(w.Header(), f)
	if f.Kind == fault.Unauthenticated {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(respond.Status(f.Kind))
	_ = json.NewEncoder(w).Encode(map[string]string{"error": f.Message}) // the client may be gone
}

// entityTag returns a weak tag: the document may be sent compressed.
func entityTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `W/"` + hex.EncodeToString(sum[:16]) + `"`
}

// hasTag reports whether If-None-Match names a tag, in weak comparison (RFC 9110 section 13.1.2).
func hasTag(fields []string, tag string) bool {
	for _, field := range fields {
		for named := range strings.SplitSeq(field, ",") {
			if named = strings.TrimSpace(named); named == "*" || strings.TrimPrefix(named, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}
