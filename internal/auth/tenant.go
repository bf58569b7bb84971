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

// Bounds of the time that a tool call waits for approval.
const (
	minApprovalTimeout = time.Second
	maxApprovalTimeout = 24 * time.Hour
)

// TenantChange is a change of tenant settings. Nil fields stay.
type TenantChange struct {
	Name            *string
	CallHistory     *connectors.CallHistory
	BodyReaders     *connectors.BodyReaders
	ApprovalTimeout *time.Duration // whole seconds
	HistoryDays     *int           // 0: the installation's number
	Defaults        DefaultsChange // of new agents and connectors

	DownAfterFailures *int // of a connector in a row, after which it counts as down
	DownAfterMinutes  *int // from its first failure; it counts as down at the next failure

	SecondFactorRequired *bool // for members without single sign-on
	RefuseInvalidResults *bool // of tool calls, by the tool's output schema
	TokenExchange        *bool // connectors may name members and agents to authorization servers

	CallsPerMinute *int // of all agents together, below the operator's limit; 0: that limit
	CallsPerDay    *int // of all agents together, below the operator's limit; 0: that limit
}

// HistoryDays returns the installation's days of history, a tenant's maximum.
func (s *Service) HistoryDays() int { return s.maxDays }

// HistoryDaysFor returns a tenant's days of history.
func (s *Service) HistoryDaysFor(t connectors.Tenant) int {
	return connectors.KeptDays(t.HistoryDays, s.maxDays)
}

// HistorySince returns the start of a tenant's history; nil: none yet. Older rows that are kept do not count.
func (s *Service) HistorySince(ctx context.Context, t connectors.Tenant) (*time.Time, error) {
	at, err := s.store.Tenant(t.ID).Lists().OldestHistory(ctx)
	if err != nil || at.IsZero() {
		return nil, err
	}
	if start := connectors.HistoryStart(s.now(), s.HistoryDaysFor(t)).UTC(); at.Before(start) {
		at = start
	}
	return &at, nil
}

// RenameTenant changes the name of the actor's tenant; its slug stays.
func (s *Service) RenameTenant(ctx context.Context, a Actor, name string) error {
	return s.ChangeTenant(ctx, a, TenantChange{Name: &name})
}

// ChangeTenant changes the settings of the actor's tenant.
func (s *Service) ChangeTenant(ctx context.Context, a Actor, c TenantChange) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	if c.Name != nil {
		name := strings.TrimSpace(*c.Name)
		c.Name = &name
	}
	if err := fault.InvalidFields(c.checkFields(s.maxDays)...); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.Self(ctx)
		if err != nil {
			return err
		}
		if err := renameTenant(ctx, tx, a, before, c.Name); err != nil {
			return err
		}
		if err := configureTenant(ctx, tx, a, before, c); err != nil {
			return err
		}
		if err := setHistoryDays(ctx, tx, a, before, c.HistoryDays); err != nil {
			return err
		}
		if err := requireSecondFactor(ctx, tx, a, before, c.SecondFactorRequired); err != nil {
			return err
		}
		if err := setQuota(ctx, tx, a, before, c); err != nil {
			return err
		}
		if err := setDownAfter(ctx, tx, a, before, c); err != nil {
			return err
		}
		if err := refuseInvalidResults(ctx, tx, a, before, c.RefuseInvalidResults); err != nil {
			return err
		}
		if err := allowTokenExchange(ctx, tx, a, before, c.TokenExchange); err != nil {
			return err
		}
		return setDefaults(ctx, tx, a, before, c.Defaults)
	})
}

func (c TenantChange) checkFields(maxDays int) []fault.Field {
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
	if r := c.BodyReaders; r != nil && *r != connectors.ReadersEveryone && *r != connectors.ReadersAuditors {
		fields = append(fields, fault.Field{Location: "body_readers", Message: "Choose everyone or auditors."})
	}
	if c.ApprovalTimeout != nil && (*c.ApprovalTimeout < minApprovalTimeout || *c.ApprovalTimeout > maxApprovalTimeout) {
		fields = append(fields, fault.Field{
			Location: "approval_timeout_s",
			Message:  fmt.Sprintf("Must be %s to %s.", connectors.FormatBound(minApprovalTimeout), connectors.FormatBound(maxApprovalTimeout)),
		})
	}
	if days := c.HistoryDays; days != nil && *days != 0 && (*days < connectors.MinHistoryDays || *days > maxDays) {
		fields = append(fields, fault.Field{Location: "history_days", Message: daysMessage(maxDays)})
	}
	fields = append(fields, c.downAfter(connectors.DefaultDownAfter).Validate()...)
	return append(fields, c.Defaults.checkFields()...)
}

// downAfter returns d with the change.
func (c TenantChange) downAfter(d connectors.DownAfter) connectors.DownAfter {
	setIfGiven(&d.Failures, c.DownAfterFailures)
	setIfGiven(&d.Minutes, c.DownAfterMinutes)
	return d
}

func setDownAfter(ctx context.Context, tx *store.Tenant, a Actor, before connectors.Tenant, c TenantChange) error {
	after := c.downAfter(before.DownAfter)
	if after == before.DownAfter {
		return nil
	}
	return changeTenant(ctx, tx, a.Event("tenant.configure", before.Slug), func() error { return tx.SetDownAfter(ctx, after) })
}

func daysMessage(most int) string {
	if most <= connectors.MinHistoryDays {
		return fmt.Sprintf("Fixed at %d days on this installation.", most)
	}
	return fmt.Sprintf("Must be %d–%d days, or the installation's default.", connectors.MinHistoryDays, most)
}

func renameTenant(ctx context.Context, tx *store.Tenant, a Actor, before connectors.Tenant, name *string) error {
	if name == nil {
		return nil
	}
	return changeTenant(ctx, tx, a.Event("tenant.rename", before.Slug), func() error { return tx.Rename(ctx, *name) })
}

func configureTenant(ctx context.Context, tx *store.Tenant, a Actor, before connectors.Tenant, c TenantChange) error {
	if c.CallHistory == nil && c.BodyReaders == nil && c.ApprovalTimeout == nil {
		return nil
	}
	history, readers, timeout := before.CallHistory, before.BodyReaders, before.ApprovalTimeout
	setIfGiven(&history, c.CallHistory)
	setIfGiven(&readers, c.BodyReaders)
	setIfGiven(&timeout, c.ApprovalTimeout)
	return changeTenant(ctx, tx, a.Event("tenant.configure", before.Slug), func() error { return tx.SetCallSettings(ctx, history, readers, timeout) })
}

func setHistoryDays(ctx context.Context, tx *store.Tenant, a Actor, before connectors.Tenant, days *int) error {
	if days == nil || *days == before.HistoryDays {
		return nil
	}
	return changeTenant(ctx, tx, a.Event("tenant.keep_history", before.Slug), func() error { return tx.SetHistoryDays(ctx, *days) })
}

func requireSecondFactor(ctx context.Context, tx *store.Tenant, a Actor, before connectors.Tenant, required *bool) error {
	if required == nil || *required == before.SecondFactorRequired {
		return nil
	}
	return changeTenant(ctx, tx, a.Event("tenant.require_second_factor", before.Slug), func() error { return tx.People().RequireSecondFactor(ctx, *required) })
}

func refuseInvalidResults(ctx context.Context, tx *store.Tenant, a Actor, before connectors.Tenant, refuse *bool) error {
	if refuse == nil || *refuse == before.RefuseInvalidResults {
		return nil
	}
	return changeTenant(ctx, tx, a.Event("tenant.configure", before.Slug), func() error { return tx.RefuseInvalidResults(ctx, *refuse) })
}

func allowTokenExchange(ctx context.Context, tx *store.Tenant, a Actor, before connectors.Tenant, allow *bool) error {
	if allow == nil || *allow == before.TokenExchange {
		return nil
	}
	return changeTenant(ctx, tx, a.Event("tenant.configure", before.Slug), func() error { return tx.Accounts().SetTokenExchange(ctx, *allow) })
}

// changeTenant applies a change of settings and audits it.
func changeTenant(ctx context.Context, tx *store.Tenant, e store.Event, change func() error) error {
	was, err := tx.LockAndReadState(ctx, store.OfTenant())
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	return tx.RecordChange(ctx, e, was, store.OfTenant())
}
