package tools

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/web/templates"
)

// skillWithdraw ends that agents get a skill, after a question.
func (h *Handler) skillWithdraw(w http.ResponseWriter, r *http.Request) error {
	tool := shell.PathValue(r, "tool")
	if _, isSkill := connectors.SkillOfTool(tool); !isSkill {
		return fault.Errorf(fault.NotFound, "No such skill.")
	}
	unsure, err := shell.IsUnsure(r)
	if err != nil {
		return err
	}
	if unsure {
		if _, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id")); err != nil {
			return err
		}
		return h.AskPage(w, r, templates.AskPage{
			Title: i18n.T(r.Context(), "Withdraw %s?", ChangedName(r.Context(), tool)),
			Text:  i18n.T(r.Context(), "Agents can no longer read its files. You can undo this, or accept the skill again."),
			Yes:   i18n.T(r.Context(), "Withdraw"), Danger: true,
		})
	}
	return h.submitVerdict(w, r, i18n.T(r.Context(), "Withdrawn: %s of %s. Agents no longer get it."), manage.ToolVerdict{Tool: tool})
}

// fillWithdrawal offers to withdraw the version of a skill that agents get, unless another one waits for a decision.
func (h *Handler) fillWithdrawal(r *http.Request, view *templates.ChangePage, tool string) error {
	uri, isSkill := connectors.SkillOfTool(tool)
	if !isSkill || !view.Frame.Can.Manage {
		return nil
	}
	s, err := h.Registry.Skill(r.Context(), shell.Actor(r).Tenant.ID, shell.PathRef(r, "id"), uri)
	switch {
	case fault.Is(err, fault.NotFound): // its history is left
		return nil
	case err != nil:
		return err
	case s.Accepted != nil && s.RemovedAt == nil && s.Review != connectors.ReviewChanged:
		view.Withdraw = s.Accepted.Hash.String()
	}
	return nil
}
