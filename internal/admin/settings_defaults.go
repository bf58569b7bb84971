package admin

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// defaultValues are the fields of the defaults.
func defaultValues(d connectors.Defaults) map[string]string {
	return map[string]string{
		"defaults.approval":             string(d.Approval),
		"defaults.sync_interval_s":      strconv.Itoa(int(d.SyncInterval.Seconds())),
		"defaults.max_definition_age_s": strconv.Itoa(int(d.DefinitionAge.Seconds())),
		"defaults.tool_changes":         string(d.ToolChanges),
		"defaults.listen":               string(d.Listen),
	}
}

// defaultsChange is what the form says of the defaults; what it has no field for stays, and a number that was left empty, too.
func (f form) defaultsChange() (auth.DefaultsChange, error) {
	p := draftParser{form: f}
	c := auth.DefaultsChange{
		Approval:      chosen[connectors.ApprovalMode](f, "defaults.approval"),
		SyncInterval:  p.seconds("defaults.sync_interval_s"),
		DefinitionAge: p.seconds("defaults.max_definition_age_s"),
		ToolChanges:   chosen[connectors.ToolChangePolicy](f, "defaults.tool_changes"),
		Listen:        chosen[connectors.ListenPolicy](f, "defaults.listen"),
	}
	return c, fault.InvalidFields(p.wrong...)
}

// chosen is the word that a field says; nil: the form does not have the field.
func chosen[T ~string](f form, name string) *T {
	if !f.values.Has(name) {
		return nil
	}
	return new(T(f.text(name)))
}

// seconds is a time that a field says; nil: it says none.
func (p *draftParser) seconds(name string) *time.Duration {
	if p.form.text(name) == "" {
		return nil
	}
	var d time.Duration
	p.duration(name, time.Second, &d)
	return &d
}

// sealingKeysPanel says how the keys are that seal secrets; nothing to who may not know.
func (h *Handler) sealingKeysPanel(r *http.Request) (templates.SealingKeysPanel, error) {
	keys, err := h.auth.SealingKeys(r.Context(), actor(r))
	if err != nil {
		return templates.SealingKeysPanel{}, err
	}
	made := when(r.Context(), keys.MadeAt, h.now())
	panel := templates.SealingKeysPanel{Unfinished: keys.Unfinished, Own: keys.Own, Facts: []templates.Fact{{Label: words.T(r.Context(), "Made"), When: &made}}}
	rotated := templates.Fact{Label: words.T(r.Context(), "Last rotated"), Value: words.T(r.Context(), "Never")}
	if keys.RotatedAt != nil {
		at := when(r.Context(), *keys.RotatedAt, h.now())
		rotated = templates.Fact{Label: words.T(r.Context(), "Last rotated"), When: &at}
	}
	panel.Facts = append(panel.Facts, rotated)
	for _, k := range keys.Keys {
		panel.Keys = append(panel.Keys, templates.SealingKeyRow{ID: k.ID.String(), State: sealingState(r.Context(), k), Sealed: strconv.Itoa(k.Sealed)})
	}
	return panel, nil
}

func sealingState(ctx context.Context, k auth.SealingKey) templates.State {
	switch {
	case k.Gone:
		return templates.State{Kind: templates.StateBad, Text: words.T(ctx, "Not known here: what it sealed does not open")}
	case k.Seals:
		return templates.State{Kind: templates.StateOK, Text: words.T(ctx, "Seals what is stored")}
	default:
		return templates.State{Kind: templates.StateBusy, Text: words.T(ctx, "Opens what it sealed before")}
	}
}
