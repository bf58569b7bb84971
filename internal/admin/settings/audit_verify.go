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
	flash := respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Log verified: all entries intact.")}
	if calls.Rest != nil {
		flash.Text = i18n.T(r.Context(), "Log verified. Too many calls to check now; all are checked daily.")
	}
	if calls.Bad != nil {
		flash = respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "Some recorded outcomes don't match.")}
	}
	if check.Bad != nil {
		flash = respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "The log was altered.")}
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
		At: &checkedAt, State: templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "All entries intact")},
		Good: i18n.N(ctx, int(s.Good), "%s entry intact", "%s entries intact"),
	}
	if newer := s.Events - s.Good; newer > 0 && s.Bad == nil {
		v.State.Text = i18n.T(ctx, "Intact when last verified")
		v.Good += " · " + i18n.N(ctx, int(newer), "%s newer entry not verified yet", "%s newer entries not verified yet")
	}
	if s.Bad != nil {
		v.State = templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Entry %s was altered", i18n.Number(ctx, int(s.Bad.N)))}
		v.Reason, v.Place = auditReason(ctx, s.Bad.Reason), auditFlawLink(ctx, *s.Bad)
	}
	return v
}

// auditFlawLink leads to the entry that was altered, or to the last one before a missing entry.
func auditFlawLink(ctx context.Context, bad store.AuditFlaw) *templates.Link {
	switch {
	case bad.EventID != nil && bad.Reason == store.AuditChanged:
		return &templates.Link{Text: i18n.T(ctx, "Show entry"), Href: "/audit?entry=" + bad.EventID.String()}
	case bad.Last != nil:
		return &templates.Link{Text: i18n.T(ctx, "Show previous entry"), Href: "/audit?entry=" + bad.Last.String()}
	default:
		return nil
	}
}

func auditReason(ctx context.Context, reason store.AuditReason) string {
	switch reason {
	case store.AuditEntryGone:
		return i18n.T(ctx, "The entry was removed.")
	case store.AuditLinkGone, store.AuditRestGone:
		return i18n.T(ctx, "Entries from here on were removed.")
	case store.AuditEndMoved:
		return i18n.T(ctx, "The chain doesn't end with its recorded hash.")
	case store.AuditCutOff:
		return i18n.T(ctx, "Earlier entries were removed without a signed record.")
	case store.AuditUnlinked:
		return i18n.T(ctx, "The database contains entries not recorded by Patchbay.")
	default:
		return i18n.T(ctx, "This entry or an earlier one was altered.")
	}
}

// outcomeVerdict says what the last complete check of call outcomes found; nil if there are no outcomes.
func (h *Handler) outcomeVerdict(ctx context.Context, s store.OutcomeState) *templates.AuditVerdict {
	if s.CheckedAt == nil || s.Calls == 0 && s.Bad == nil {
		return nil
	}
	checkedAt := shell.NewWhen(ctx, s.CheckedAt.UTC(), h.Now())
	v := &templates.AuditVerdict{
		At: &checkedAt, State: templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "All recorded outcomes match")},
		Good: i18n.N(ctx, int(s.Good), "%s call matches", "%s calls match"),
	}
	if newer := s.Calls - s.Good; newer > 0 && s.Bad == nil {
		v.State.Text = i18n.T(ctx, "Outcomes matched when last verified")
		v.Good += " · " + i18n.N(ctx, int(newer), "%s newer call not verified yet", "%s newer calls not verified yet")
	}
	if s.Bad == nil {
		return v
	}
	v.State, v.Good = templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Recorded outcomes don't match")}, ""
	v.Reason = outcomeReason(ctx, s.Bad.Reason)
	if s.Bad.Call != nil && s.Bad.Reason == store.OutcomeChanged {
		v.Place = &templates.Link{Text: i18n.T(ctx, "Show call"), Href: shell.CallPath(*s.Bad.Call)}
	}
	return v
}

func outcomeReason(ctx context.Context, reason store.AuditReason) string {
	switch reason {
	case store.OutcomeChanged:
		return i18n.T(ctx, "A finished call was changed in the database.")
	case store.OutcomeGone:
		return i18n.T(ctx, "A call was removed from the database too early.")
	default:
		return i18n.T(ctx, "Recorded outcomes were changed in the database.")
	}
}
