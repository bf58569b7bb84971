package auth

import (
	"context"
	"fmt"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// The least and the most that a tool call waits for a person, before its agent is told to come back.
const (
	minApprovalTimeout = time.Second
	maxApprovalTimeout = 24 * time.Hour
)

// TenantChange is what becomes different of a tenant. What is nil stays.
type TenantChange struct {
	Name            *string
	CallHistory     *connectors.CallHistory
	ApprovalTimeout *time.Duration // whole seconds
}

// RenameTenant gives the actor's tenant another name; its slug stays.
func (s *Service) RenameTenant(ctx context.Context, a Actor, name string) error {
	return s.ChangeTenant(ctx, a, TenantChange{Name: &name})
}

// ChangeTenant changes the settings of the actor's tenant.
func (s *Service) ChangeTenant(ctx context.Context, a Actor, c TenantChange) error {
	if err := a.Require(connectors.RoleOwner); err != nil {
		return err
	}
	if c.Name != nil {
		name := strings.TrimSpace(*c.Name)
		c.Name = &name
	}
	if err := fault.InvalidFields(c.check()...); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.Self(ctx)
		if err != nil {
			return err
		}
		if err := rename(ctx, tx, a, before, c.Name); err != nil {
			return err
		}
		return configure(ctx, tx, a, before, c)
	})
}

func (c TenantChange) check() []fault.Field {
	var fields []fault.Field
	if c.Name != nil {
		fields = append(fields, checkName(*c.Name)...)
	}
	if c.CallHistory != nil {
		switch *c.CallHistory {
		case connectors.HistoryNone, connectors.HistoryRedacted, connectors.HistoryFull:
		default:
			fields = append(fields, fault.Field{Location: "call_history", Message: "Choose none, redacted or full."})
		}
	}
	if c.ApprovalTimeout != nil && (*c.ApprovalTimeout < minApprovalTimeout || *c.ApprovalTimeout > maxApprovalTimeout) {
		fields = append(fields, fault.Field{
			Location: "approval_timeout_s",
			Message: fmt.Sprintf("A call waits between %.0f and %.0f seconds for a person.",
				minApprovalTimeout.Seconds(), maxApprovalTimeout.Seconds()),
		})
	}
	return fields
}

func rename(ctx context.Context, tx *store.Tenant, a Actor, before connectors.Tenant, name *string) error {
	if name == nil {
		return nil
	}
	if err := tx.Rename(ctx, *name); err != nil {
		return err
	}
	e := a.Event("tenant.rename", *name)
	e.Detail = map[string]any{"before": before.Name}
	return tx.Record(ctx, e)
}

func configure(ctx context.Context, tx *store.Tenant, a Actor, before connectors.Tenant, c TenantChange) error {
	if c.CallHistory == nil && c.ApprovalTimeout == nil {
		return nil
	}
	history, timeout := before.CallHistory, before.ApprovalTimeout
	if c.CallHistory != nil {
		history = *c.CallHistory
	}
	if c.ApprovalTimeout != nil {
		timeout = *c.ApprovalTimeout
	}
	if err := tx.Configure(ctx, history, timeout); err != nil {
		return err
	}
	e := a.Event("tenant.configure", before.Slug)
	e.Detail = map[string]any{"call_history": history, "approval_timeout_s": int(timeout / time.Second)}
	return tx.Record(ctx, e)
}
