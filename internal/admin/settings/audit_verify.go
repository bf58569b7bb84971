package settings

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// outcomeCheckTimeout bounds the check of call outcomes.
const outcomeCheckTimeout = 5 * time.Second

// auditVerify verifies the hash chains of the audit log and of call outcomes. The page shows the result.
func (h *Handler) auditVerify(w http.ResponseWriter, r *http.Request) error {
	check, err := h.TenantStore(r).Audit().Check(r.Context())
	if err != nil {
		return err
	}
	calls, err := h.TenantStore(r).Audit().CheckOutcomes(r.Context(), nil, time.Now().Add(outcomeCheckTimeout))
	if err != nil {
		return err
	}
	flash := respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The log is verified: every entry is as it was recorded.")}
	if calls.Rest != nil {
		flash.Text = i18n.T(r.Context(), "The log is verified. There are more calls than can be looked at now: Patchbay looks at all of them once a day.")
	}
	if calls.Bad != nil {
		flash = respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "Calls are not as it was recorded that they ended.")}
	}
	if check.Bad != nil {
		flash = respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "The log is not as it was recorded.")}
	}
	return h.Respond.Back(w, r, "/audit", flash)
}

// auditVerdict says what the last check of the log found.
func (h *Handler) auditVerdict(ctx context.Context, s store.AuditState) templates.AuditVerdict {
	if s.CheckedAt == nil {
		return templates.AuditVerdict{State: templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Not verified yet")}}
	}
	checkedAt := shell.NewWhen(ctx, s.CheckedAt.UTC(), h.Now())
	v := templates.AuditVerdict{
		At: &checkedAt, State: templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Every entry is as it was recorded")},
		Good: i18n.N(ctx, int(s.Good), "%s entry is good", "%s entries are good"),
	}
	if s.Bad != nil {
		v.State = templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Entry %s is not as it was recorded", i18n.Number(ctx, int(s.Bad.N)))}
		v.Reason, v.Place = auditReason(ctx, s.Bad.Reason), auditFlawLink(ctx, *s.Bad)
	}
	return v
}

// auditFlawLink leads to the entry that was altered, or to the last one before a missing entry.
func auditFlawLink(ctx context.Context, bad store.AuditFlaw) *templates.Link {
	switch {
	case bad.EventID != nil && bad.Reason == store.AuditChanged:
		return &templates.Link{Text: i18n.T(ctx, "Show this entry"), Href: "/audit?entry=" + bad.EventID.String()}
	case bad.Last != nil:
		return &templates.Link{Text: i18n.T(ctx, "Show the last entry before it"), Href: "/audit?entry=" + bad.Last.String()}
	default:
		return nil
	}
}

func auditReason(ctx context.Context, reason store.AuditReason) string {
	switch reason {
	case store.AuditEntryGone:
		return i18n.T(ctx, "The entry was removed from the database.")
	case store.AuditLinkGone, store.AuditRestGone:
		return i18n.T(ctx, "The entries from here on were cut out of the chain.")
	case store.AuditEndMoved:
		return i18n.T(ctx, "The chain does not end as it did when its last entry was recorded.")
	case store.AuditCutOff:
		return i18n.T(ctx, "The entries before this were cut off, and nothing that Patchbay has signed says so.")
	case store.AuditUnlinked:
		return i18n.T(ctx, "There are entries in the database that Patchbay did not record.")
	default:
		return i18n.T(ctx, "Somebody changed it in the database, or one before it.")
	}
}

// outcomeVerdict says what the last complete check of call outcomes found; nil if there are no outcomes.
func (h *Handler) outcomeVerdict(ctx context.Context, s store.OutcomeState) *templates.AuditVerdict {
	if s.CheckedAt == nil || s.Calls == 0 && s.Bad == nil {
		return nil
	}
	checkedAt := shell.NewWhen(ctx, s.CheckedAt.UTC(), h.Now())
	v := &templates.AuditVerdict{
		At: &checkedAt, State: templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Every call ended as is on record")},
		Good: i18n.N(ctx, int(s.Good), "%s call is on record", "%s calls are on record"),
	}
	if s.Bad == nil {
		return v
	}
	v.State, v.Good = templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Calls are not as they ended")}, ""
	v.Reason = outcomeReason(ctx, s.Bad.Reason)
	if s.Bad.Call != nil && s.Bad.Reason == store.OutcomeChanged {
		v.Place = &templates.Link{Text: i18n.T(ctx, "Show this call"), Href: shell.CallPath(*s.Bad.Call)}
	}
	return v
}

func outcomeReason(ctx context.Context, reason store.AuditReason) string {
	switch reason {
	case store.OutcomeChanged:
		return i18n.T(ctx, "Somebody changed a call in the database after it had ended.")
	case store.OutcomeGone:
		return i18n.T(ctx, "Somebody removed a call from the database that was not old enough.")
	default:
		return i18n.T(ctx, "Somebody changed in the database what is on record of how calls ended.")
	}
}
