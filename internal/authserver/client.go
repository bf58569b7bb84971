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

// Client is a program, as far as it can be known.
type Client struct {
	ID           string
	Name         string // what it calls itself: nobody has checked it
	Host         string // whose document says so; empty: it registered itself, and nobody can tell whose it is
	RedirectURIs []string
}

// maxClientName is how much is shown of what a program calls itself.
const maxClientName = 60

// client finds a program by its id.
func (s *Server) client(ctx context.Context, id string) (Client, error) {
	if oauth.IsDocumentURL(id) {
		return s.documents.read(ctx, id)
	}
	registered, err := uuid.Parse(id)
	if err != nil || registered.String() != id {
		return Client{}, unknownClient()
	}
	c, err := s.store.System().MCPClient(ctx, registered)
	if fault.Is(err, fault.NotFound) {
		return Client{}, unknownClient()
	}
	if err != nil {
		return Client{}, err
	}
	return Client{ID: id, Name: c.Name, RedirectURIs: c.RedirectURIs}, nil
}

func unknownClient() error {
	return fault.Errorf(fault.Invalid, "The program that sent you here is not known: it never registered, or that is long ago. Have it connect to Patchbay anew.")
}

// used notes that somebody let a registered program in, so that it is not forgotten. What becomes of the request does not depend on it.
func (s *Server) used(ctx context.Context, id string) {
	registered, err := uuid.Parse(id)
	if err != nil {
		return
	}
	if err := s.store.System().UseMCPClient(ctx, registered); err != nil {
		s.log.WarnContext(ctx, "use of a registered client not noted", "error", err)
	}
}

// shownName is what a program calls itself, without what cannot be seen or turns a line about; empty: nothing of it is left.
func shownName(said string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(said), " ") {
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
