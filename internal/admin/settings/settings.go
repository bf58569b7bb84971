package settings

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// settingsShow shows the tenant's settings.
func (h *Handler) settingsShow(w http.ResponseWriter, r *http.Request) error {
	t := shell.Actor(r).Tenant
	return h.tenantPage(w, r, http.StatusOK, tenantForm(t, h.Auth.HistoryDaysFor(t)), "")
}

func tenantForm(t connectors.Tenant, retentionDays int) templates.Form {
	days := "" // empty: the installation's maximum
	if t.HistoryDays > 0 {
		days = strconv.Itoa(retentionDays)
	}
	values := map[string]string{
		"name": t.Name, "call_history": string(t.CallHistory), "body_readers": string(t.BodyReaders), "approval_timeout_s": strconv.Itoa(int(t.ApprovalTimeout.Seconds())),
		"history_days": days, "second_factor": factorValue(t.SecondFactorRequired), "invalid_results": invalidResultsValue(t.RefuseInvalidResults),
		"token_exchange":      strconv.FormatBool(t.TokenExchange),
		"down_after_failures": strconv.Itoa(t.DownAfter.Failures), "down_after_minutes": strconv.Itoa(t.DownAfter.Minutes),
		"calls_per_minute": strconv.Itoa(t.Quota.PerMinute), "calls_per_day": strconv.Itoa(t.Quota.PerDay),
	}
	maps.Copy(values, defaultValues(t.Defaults))
	return templates.Form{Values: values}
}

// settingsSave changes the tenant's settings.
func (h *Handler) settingsSave(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	tenant := shell.Actor(r).Tenant
	err = f.ReadDurations("approval_timeout_s", "defaults.sync_interval_s", "defaults.max_definition_age_s", "down_after_minutes")
	var change auth.TenantChange
	if err == nil {
		change, err = tenantChange(f, tenant)
	}
	if err == nil {
		err = h.Auth.ChangeTenant(r.Context(), shell.Actor(r), change)
	}
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		// The other cards keep what is stored.
		typed, form := f.ToForm(problem), tenantForm(tenant, h.Auth.HistoryDaysFor(tenant))
		maps.Copy(form.Values, typed.Values)
		typed.Values = form.Values
		return h.tenantPage(w, r, respond.Status(problem.Kind), typed, f.Text("card"))
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, cardPath(f.Text("card")), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Settings saved.")})
}

// durationChoices are what the form's durations offer.
func durationChoices(ctx context.Context, f templates.Form) map[string]templates.DurationChoice {
	choice := func(name string, unit time.Duration, list ...time.Duration) templates.DurationChoice {
		return shell.NewDurationChoice(ctx, f.Value(name), unit, list...)
	}
	return map[string]templates.DurationChoice{
		"approval_timeout_s":            choice("approval_timeout_s", time.Second, time.Minute, 5*time.Minute, 15*time.Minute, time.Hour, 24*time.Hour),
		"defaults.sync_interval_s":      choice("defaults.sync_interval_s", time.Second, connectorpages.SyncIntervals...),
		"defaults.max_definition_age_s": choice("defaults.max_definition_age_s", time.Second, connectorpages.DefinitionAges...),
		"down_after_minutes":            choice("down_after_minutes", time.Minute, 5*time.Minute, 15*time.Minute, 30*time.Minute, time.Hour, 6*time.Hour, 24*time.Hour),
	}
}

// cards are the forms of the page.
var cards = []string{"name", "history", "call-settings", "quota", "sign-in", "token-exchange", "new-agents", "new-connectors", "failing"}

// cardPath is the place of a card on the page.
func cardPath(card string) string {
	if slices.Contains(cards, card) {
		return "/settings#" + card
	}
	return "/settings"
}

// tenantChange reads the form. A missing field keeps its value.
func tenantChange(f shell.PostedForm, before connectors.Tenant) (auth.TenantChange, error) {
	var change auth.TenantChange
	if f.Values.Has("name") {
		change.Name = new(f.Text("name"))
	}
	if f.Values.Has("call_history") {
		change.CallHistory = new(connectors.CallHistory(f.Text("call_history")))
	}
	if f.Values.Has("body_readers") {
		change.BodyReaders = new(connectors.BodyReaders(f.Text("body_readers")))
	}
	if f.Values.Has("approval_timeout_s") {
		seconds := f.Number("approval_timeout_s", int(before.ApprovalTimeout.Seconds()))
		change.ApprovalTimeout = new(time.Duration(seconds) * time.Second)
	}
	switch {
	case f.Text("history_days") != "":
		change.HistoryDays = new(f.Number("history_days", 0))
	case f.Values.Has("history_days"):
		change.HistoryDays = new(0)
	}
	if f.Values.Has("second_factor") {
		change.SecondFactorRequired = new(f.Text("second_factor") == factorRequired)
	}
	if f.Values.Has("invalid_results") {
		change.RefuseInvalidResults = new(f.Text("invalid_results") == resultsRefused)
	}
	if f.Values.Has("token_exchange") {
		change.TokenExchange = new(f.Text("token_exchange") == "true")
	}
	change.DownAfterFailures = new(f.Number("down_after_failures", before.DownAfter.Failures))
	change.DownAfterMinutes = new(f.Number("down_after_minutes", before.DownAfter.Minutes))
	change.CallsPerMinute = new(f.Number("calls_per_minute", before.Quota.PerMinute))
	change.CallsPerDay = new(f.Number("calls_per_day", before.Quota.PerDay))
	var err error
	change.Defaults, err = defaultsChange(f)
	return change, err
}

// historyOptions offers what is stored of calls.
func historyOptions(ctx context.Context) []templates.Option {
	return []templates.Option{
		{Value: string(connectors.HistoryFull), Label: i18n.T(ctx, "Everything")},
		{Value: string(connectors.HistoryRedacted), Label: i18n.T(ctx, "Likely secrets redacted")},
		{Value: string(connectors.HistoryNone), Label: i18n.T(ctx, "Sizes only")},
	}
}

// readerOptions offers the readers of stored bodies.
func readerOptions(ctx context.Context) []templates.Option {
	return []templates.Option{
		{Value: string(connectors.ReadersEveryone), Label: i18n.T(ctx, "Everyone who sees the call")},
		{Value: string(connectors.ReadersAuditors), Label: i18n.T(ctx, "Auditors only, logged")},
	}
}

// The form's values for second factors.
const (
	factorOptional = "optional"
	factorRequired = "required"
)

func factorValue(required bool) string {
	if required {
		return factorRequired
	}
	return factorOptional
}

func factorOptions(ctx context.Context) []templates.Option {
	return []templates.Option{
		{Value: factorOptional, Label: i18n.T(ctx, "Optional")},
		{Value: factorRequired, Label: i18n.T(ctx, "Required")},
	}
}

// The form's values for results that do not fit their output schema.
const (
	resultsRecorded = "record"
	resultsRefused  = "refuse"
)

func invalidResultsValue(refuse bool) string {
	if refuse {
		return resultsRefused
	}
	return resultsRecorded
}

func invalidResultsOptions(ctx context.Context) []templates.Option {
	return []templates.Option{
		{Value: resultsRecorded, Label: i18n.T(ctx, "Forward and record")},
		{Value: resultsRefused, Label: i18n.T(ctx, "Refuse")},
	}
}

// exchangeOptions offers whether connectors may use token exchange.
func exchangeOptions(ctx context.Context) []templates.Option {
	return []templates.Option{{Value: "false", Label: i18n.T(ctx, "Off")}, {Value: "true", Label: i18n.T(ctx, "Allowed")}}
}

func (h *Handler) tenantPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form, card string) error {
	tenant := shell.Actor(r).Tenant
	created := shell.NewWhen(r.Context(), tenant.CreatedAt, h.Now())
	history, err := h.historyFact(r.Context(), tenant)
	if err != nil {
		return err
	}
	keys, err := h.sealingKeysPanel(r)
	if err != nil {
		return err
	}
	quota, err := h.TenantQuota(r)
	if err != nil {
		return err
	}
	return h.Respond.Page(w, r, status, templates.Settings(templates.SettingsPage{
		Frame:     h.NewFrame(r, templates.NavSettings, shell.NewCrumb(i18n.T(r.Context(), "Settings"), "")),
		Form:      f,
		Card:      card,
		Durations: durationChoices(r.Context(), f),
		Histories: historyOptions(r.Context()),
		Readers:   readerOptions(r.Context()),
		Approvals: shell.ApprovalOptions(r.Context()),
		Factors:   factorOptions(r.Context()),
		Results:   invalidResultsOptions(r.Context()),
		Exchanges: exchangeOptions(r.Context()),
		Keys:      keys,
		Quota:     quota,
		History:   templates.HistoryLimits{Min: strconv.Itoa(connectors.MinHistoryDays), Max: strconv.Itoa(h.Auth.HistoryDays())},
		Facts: []templates.Fact{
			{Label: i18n.T(r.Context(), "Slug"), Value: tenant.Slug, Mono: true, Copy: true},
			{Label: i18n.T(r.Context(), "ID"), Value: tenant.ID.String(), Mono: true, Copy: true},
			{Label: i18n.T(r.Context(), "Token issuer"), Value: h.BaseURL + credentials.IssuersPath + tenant.ID.String(), Mono: true, Copy: true},
			{Label: i18n.T(r.Context(), "Created"), When: &created},
			history,
		},
		Installation: h.installationFacts(r.Context()),
	}))
}

// installationFacts are the version and the public addresses.
func (h *Handler) installationFacts(ctx context.Context) []templates.Fact {
	return []templates.Fact{
		{Label: i18n.T(ctx, "Version"), Value: cmp.Or(h.Version, "unknown"), Mono: true, Copy: true},
		{Label: i18n.T(ctx, "Address"), Value: h.BaseURL, Mono: true, Copy: true},
		{Label: i18n.T(ctx, "OAuth redirect URI"), Value: h.Connect.RedirectURI(), Mono: true, Copy: true},
		{Label: i18n.T(ctx, "Gateway URL"), Value: h.BaseURL + "/mcp", Mono: true, Copy: true},
	}
}

// historyFact says since when there is history.
func (h *Handler) historyFact(ctx context.Context, t connectors.Tenant) (templates.Fact, error) {
	since, err := h.Auth.HistorySince(ctx, t)
	if err != nil || since == nil {
		return templates.Fact{Label: i18n.T(ctx, "Oldest entry"), Value: i18n.T(ctx, "No history yet")}, err
	}
	at := shell.NewWhen(ctx, *since, h.Now())
	return templates.Fact{Label: i18n.T(ctx, "Oldest entry"), When: &at}, nil
}
