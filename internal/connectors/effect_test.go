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
		`{"destructiveHint":true,"openWorldHint":true}`:                      "The server says this tool may delete or overwrite data. It reaches the web, other systems or people.",
		`{"readOnlyHint":true,"destructiveHint":true,"openWorldHint":false}`: "The server says this tool only reads. It stays within the server.",
		`{"readOnlyHint":false,"destructiveHint":false}`:                     "The server says this tool writes data but doesn't delete or overwrite it.",
		`{"readOnlyHint":false}`:                                             "The server says this tool writes data and may delete or overwrite it.",
		`{"openWorldHint":true}`:                                             "Effect not stated: may delete or overwrite data. It reaches the web, other systems or people.",
	} {
		if got := connectors.DecodeTool([]byte(`{"name":"x","annotations":` + annotations + `}`)).Hints.Words(); got != want {
			t.Errorf("%s: %q, want %q", annotations, got, want)
		}
	}
}
