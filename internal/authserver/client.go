package authserver

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"patchbay/internal/fault"
	"patchbay/internal/oauth"
)

// Client is an OAuth client.
type Client struct {
	ID           string
	Name         string // self-chosen and unverified
	Host         string // host of its metadata document; empty: registered dynamically, of unknown origin
	RedirectURIs []string
	NeedsProof   bool // dpop_bound_access_tokens (RFC 9449 section 5.2)
}

// maxClientName bounds the shown part of a client's name.
const maxClientName = 60

// findClient finds a client by its id.
func (s *Server) findClient(ctx context.Context, id string) (Client, error) {
	if oauth.IsDocumentURL(id) {
		return s.documents.getClient(ctx, id)
	}
	registered, err := uuid.Parse(id)
	if err != nil || registered.String() != id {
		return Client{}, errUnknownClient()
	}
	c, err := s.store.System().Sessions().MCPClient(ctx, registered)
	if fault.Is(err, fault.NotFound) {
		return Client{}, errUnknownClient()
	}
	if err != nil {
		return Client{}, err
	}
	return Client{ID: id, Name: c.Name, RedirectURIs: c.RedirectURIs, NeedsProof: c.NeedsProof}, nil
}

func errUnknownClient() error {
	return fault.Errorf(fault.Invalid, "Unknown client: its registration is missing or expired. Reconnect it to Patchbay.")
}

// markClientUsed records an authorization, so that a registered client does not expire. A failure does not fail
// the request.
func (s *Server) markClientUsed(ctx context.Context, id string) {
	registered, err := uuid.Parse(id)
	if err != nil {
		return
	}
	if err := s.store.System().Sessions().UseMCPClient(ctx, registered); err != nil {
		s.log.WarnContext(ctx, "client use not recorded", "error", err)
	}
}

// displayName returns a client's name without invisible and bidirectional characters; empty: nothing is left.
func displayName(raw string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(raw), " ") {
		if r == ' ' || unicode.IsPrint(r) {
			b.WriteRune(r)
		}
	}
	name := []rune(strings.TrimSpace(b.String()))
	if len(name) > maxClientName {
		name = append(slices.Clone(name[:maxClientName-1]), '…')
	}
	return string(name)
}
