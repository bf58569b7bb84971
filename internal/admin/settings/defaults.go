package settings

import (
	"context"
	"net/http"
	"strconv"
	"time"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// defaultValues are the form fields of the defaults.
func defaultValues(d connectors.Defaults) map[string]string {
	return map[string]string{
		"defaults.approval":             string(d.Approval),
		"defaults.sync_interval_s":      strconv.Itoa(int(d.SyncInterval.Seconds())),
		"defaults.max_definition_age_s": strconv.Itoa(int(d.DefinitionAge.Seconds())),
		"defaults.tool_changes":         string(d.ToolChanges),
		"defaults.listen":               string(d.Listen),
	}
}

// defaultsChange reads the defaults. A missing field or an empty number keeps its value.
func defaultsChange(f shell.PostedForm) (auth.DefaultsChange, error) {
	p := connectorpages.DraftParser{Form: f}
	c := auth.DefaultsChange{
		Approval:      readChoice[connectors.ApprovalMode](f, "defaults.approval"),
		SyncInterval:  readSeconds(&p, "defaults.sync_interval_s"),
		DefinitionAge: readSeconds(&p, "defaults.max_definition_age_s"),
		ToolChanges:   readChoice[connectors.ToolChangePolicy](f, "defaults.tool_changes"),
		Listen:        readChoice[connectors.ListenPolicy](f, "defaults.listen"),
	}
	return c, fault.InvalidFields(p.Problems...)
}

// readChoice reads a field's value; nil if the form does not have the field.
func readChoice[T ~string](f shell.PostedForm, name string) *T {
	if !f.Values.Has(name) {
		return nil
	}
	return new(T(f.Text(name)))
}

// readSeconds reads a duration; nil if the field is empty.
func readSeconds(p *connectorpages.DraftParser, name string) *time.Duration {
	if p.Form.Text(name) == "" {
		return nil
	}
	var d time.Duration
	p.ReadDuration(name, time.Second, &d)
	return &d
}

// sealingKeysPanel shows the state of the sealing keys; zero for people that may not see it.
func (h *Handler) sealingKeysPanel(r *http.Request) (templates.SealingKeysPanel, error) {
	keys, err := h.Auth.SealingKeys(r.Context(), shell.Actor(r))
	if err != nil {
		return templates.SealingKeysPanel{}, err
	}
	madeAt := shell.NewWhen(r.Context(), keys.MadeAt, h.Now())
	panel := templates.SealingKeysPanel{Unfinished: keys.Unfinished, Own: keys.Own, Facts: []templates.Fact{{Label: i18n.T(r.Context(), "Created"), When: &madeAt}}}
	rotated := templates.Fact{Label: i18n.T(r.Context(), "Last rotated"), Value: i18n.T(r.Context(), "Never")}
	if keys.RotatedAt != nil {
		rotatedAt := shell.NewWhen(r.Context(), *keys.RotatedAt, h.Now())
		rotated = templates.Fact{Label: i18n.T(r.Context(), "Last rotated"), When: &rotatedAt}
	}
	panel.Facts = append(panel.Facts, rotated)
	for _, k := range keys.Keys {
		panel.Keys = append(panel.Keys, templates.SealingKeyRow{ID: k.ID.String(), State: sealingState(r.Context(), k), Sealed: strconv.Itoa(k.Sealed)})
	}
	return panel, nil
}

func sealingState(ctx context.Context, k auth.SealingKey) templates.State {
	switch {
	case k.IsUnknown:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Unknown key: its data can't be decrypted")}
	case k.IsPrimary:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Encrypts new data")}
	default:
		return templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "Decrypts older data")}
	}
}
