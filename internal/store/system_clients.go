package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// MCPClient is a program that registered itself.
type MCPClient struct {
	ID           uuid.UUID
	Name         string
	RedirectURIs []string
	CreatedAt    time.Time
}

// RegistrationLimits bound what strangers can make us store.
type RegistrationLimits struct {
	Most    int       // from one network since Since
	Since   time.Time //
	Waiting int       // that nobody has let in yet: the oldest of the network that has the most make room
}

// RegisterClient stores a program from a network. Where too many came from there it is RateLimited.
func (s *System) RegisterClient(ctx context.Context, c MCPClient, address string, l RegistrationLimits) error {
	return s.tx(ctx, func(tx *System) error {
		if err := tx.q.LockRegistrations(ctx); err != nil {
			return err
		}
		n, err := tx.q.CountRegistrations(ctx, clean(address), l.Since)
		if err != nil {
			return err
		}
		if n >= int64(l.Most) {
			return fault.Errorf(fault.RateLimited, "Too many programs were registered from this address. Try again in an hour.")
		}
		if _, err := tx.q.DropOldestUnusedClients(ctx, int32(l.Waiting-1)); err != nil {
			return err
		}
		return tx.q.RegisterClient(ctx, dbgen.RegisterClientParams{
			ID: c.ID, Name: clean(c.Name), RedirectUris: cleanAll(c.RedirectURIs), Address: clean(address), CreatedAt: c.CreatedAt,
		})
	})
}

// MCPClient finds a program that registered itself.
func (s *System) MCPClient(ctx context.Context, id uuid.UUID) (MCPClient, error) {
	row, err := s.q.MCPClient(ctx, id)
	if err != nil {
		return MCPClient{}, found(err, "client")
	}
	return MCPClient{ID: row.ID, Name: row.Name, RedirectURIs: row.RedirectUris, CreatedAt: row.CreatedAt.UTC()}, nil
}

// UseMCPClient notes that somebody let a program in, or that it renewed its token: it stays.
func (s *System) UseMCPClient(ctx context.Context, id uuid.UUID) error {
	return s.q.UseMCPClient(ctx, id)
}

// AgentClientTenant finds the tenant of a program that somebody let be an agent.
func (s *System) AgentClientTenant(ctx context.Context, id connectors.AgentClientID) (connectors.TenantID, error) {
	tenant, err := s.q.AgentClientTenant(ctx, id)
	return tenant, found(err, "client")
}
