package connectors_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestEffect_FollowsHints(t *testing.T) {
	t.Parallel()
	for annotations, want := range map[string]connectors.Effect{
		`{}`:                     connectors.EffectUnsaid,
		`{"openWorldHint":true}`: connectors.EffectUnsaid,
		`{"readOnlyHint":true}`:  connectors.EffectReadOnly,
		`{"readOnlyHint":true,"destructiveHint":true}`:   connectors.EffectReadOnly, // the other is meaningless then
		`{"readOnlyHint":false}`:                         connectors.EffectWrites,
		`{"destructiveHint":false}`:                      connectors.EffectWrites,
		`{"readOnlyHint":false,"destructiveHint":true}`:  connectors.EffectDestructive,
		`{"readOnlyHint":"yes","destructiveHint":"yes"}`: connectors.EffectUnsaid,
	} {
		if got := connectors.DecodeTool([]byte(`{"name":"x","annotations":` + annotations + `}`)).Hints.Effect(); got != want {
			t.Errorf("%s: %s, want %s", annotations, got, want)
		}
	}
}

func TestHints_Words(t *testing.T) {
	t.Parallel()
	for annotations, want := range map[string]string{
		`{"destructiveHint":true,"openWorldHint":true}`:                      "By its server's word it may delete or overwrite things. It reaches beyond that server: to the web, other systems or other people.",
		`{"readOnlyHint":true,"destructiveHint":true,"openWorldHint":false}`: "By its server's word it only reads. It reaches nothing beyond that server.",
		`{"readOnlyHint":false,"destructiveHint":false}`:                     "By its server's word it changes things, and deletes or overwrites none.",
		`{"readOnlyHint":false}`:                                             "By its server's word it changes things, and may delete or overwrite some.",
		`{"openWorldHint":true}`:                                             "Its server does not say what it does: it may delete or overwrite things. It reaches beyond that server: to the web, other systems or other people.",
	} {
		if got := connectors.DecodeTool([]byte(`{"name":"x","annotations":` + annotations + `}`)).Hints.Words(); got != want {
			t.Errorf("%s: %q, want %q", annotations, got, want)
		}
	}
}
