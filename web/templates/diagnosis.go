package templates

import (
	"context"

	"patchbay/internal/i18n"
)

// Diagnosis shows the discovery of a connector's authorization server. Its button posts to Action. Without
// Stages it has not run.
type Diagnosis struct {
	Action  string
	Title   string // "Diagnosis", "Why it isn't connected"
	First   bool   // shown first, as the reason for the page
	At      When
	Problem *Attention // nil: the authorization server is usable
	Stages  []DiagnosisStage
	Outcome []Fact
	Scopes  []string // requested
}

// DiagnosisStage groups the attempts for one document.
type DiagnosisStage struct {
	Name  string // "Protected-resource metadata"
	Steps []DiagnosisStep
}

// DiagnosisStep is one attempt.
type DiagnosisStep struct {
	Kind    StateKind // StateOK: decisive; StateBad: the discovery ended here; StateOff: skipped
	URL     string    // empty: no request
	Status  string    // "404 Not Found"; empty: no response
	Read    string    // "HTML"
	Decided string
}

func (d Diagnosis) buttonText(ctx context.Context) string {
	if len(d.Stages) == 0 {
		return i18n.T(ctx, "Diagnose")
	}
	return i18n.T(ctx, "Diagnose again")
}
