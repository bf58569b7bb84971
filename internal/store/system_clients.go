package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// MCPClient is a dynamically registered OAuth client.
type MCPClient struct {
	ID           uuid.UUID
	Name         string
	RedirectURIs []string
	CreatedAt    time.Time
	NeedsProof   bool // it gets bound tokens only (RFC 9449 section 5.2)
}

// RegistrationLimits bound what unauthenticated callers can store.
type RegistrationLimits struct {
	PerNetwork int       // registrations since Since
	Since      time.Time //
	Waiting    int       // clients without an authorization: beyond, the network with the most loses its oldest
}

// RegisterClient stores a client of a network. It fails with RateLimited above the network's limit.
func (s SystemSessions) RegisterClient(ctx context.Context, c MCPClient, address string, l RegistrationLimits) error {
	return s.inTx(ctx, func(tx *System) error {
		if err := tx.q.LockRegistrations(ctx); err != nil {
			return err
		}
		n, err := tx.q.CountRegistrations(ctx, cleanText(address), l.Since)
		if err != nil {
			return err
		}
		if n >= int64(l.PerNetwork) {
			return fault.Errorf(fault.RateLimited, "Too many clients were registered from this address. Try again in an hour.")
		}
		if _, err := tx.q.DeleteOldestUnusedClients(ctx, int32(l.Waiting-1)); err != nil {
			return err
		}
		return tx.q.RegisterClient(ctx, dbgen.RegisterClientParams{
			ID: c.ID, Name: cleanText(c.Name), RedirectUris: cleanAll(c.RedirectURIs), Address: cleanText(address), CreatedAt: c.CreatedAt,
			DpopRequired: c.NeedsProof,
		})
	})
}

// MCPClient finds a registered client.
func (s SystemSessions) MCPClient(ctx context.Context, id uuid.UUID) (MCPClient, error) {
	row, err := s.q.MCPClient(ctx, id)
	if err != nil {
		return MCPClient{}, rowError(err, "client")
	}
	return MCPClient{ID: row.ID, Name: row.Name, RedirectURIs: row.RedirectUris, CreatedAt: row.CreatedAt.UTC(), NeedsProof: row.DpopRequired}, nil
}

// UseMCPClient records an authorization or a token refresh, which keeps the client from expiring.
func (s SystemSessions) UseMCPClient(ctx context.Context, id uuid.UUID) error {
	return s.q.TouchMCPClient(ctx, id)
}

// AgentClientTenant finds the tenant of an authorized client.
func (s SystemSessions) AgentClientTenant(ctx context.Context, id connectors.AgentClientID) (connectors.TenantID, error) {
	tenant, err := s.q.AgentClientTenant(ctx, id)
	return tenant, rowError(err, "client")
}
