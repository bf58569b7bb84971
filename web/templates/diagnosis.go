package templates

import (
	"context"

	"patchbay/internal/words"
)

// Diagnosis tells how the authorization server of a connector was looked for. Its button posts to Action. Without Stages nothing
// has been asked yet.
type Diagnosis struct {
	Action  string
	Title   string // "Diagnosis", "Why it is not connected"
	First   bool   // it is why the page is shown, and stands above the rest
	At      When
	Problem *Attention // nil: a person can be sent there
	Stages  []DiagnosisStage
	Outcome []Fact
	Scopes  []string // that are asked for
}

// DiagnosisStage is what was tried for one thing.
type DiagnosisStage struct {
	Name  string // "Protected-resource metadata"
	Steps []DiagnosisStep
}

// DiagnosisStep is one look.
type DiagnosisStep struct {
	Kind    StateKind // StateOK: this is what counts; StateBad: here it ended; StateOff: passed over
	URL     string    // empty: nothing was asked
	Status  string    // "404 Not Found"; empty: no answer
	Read    string    // "HTML"
	Decided string
}

func (d Diagnosis) word(ctx context.Context) string {
	if len(d.Stages) == 0 {
		return words.T(ctx, "Diagnose")
	}
	return words.T(ctx, "Diagnose again")
}
