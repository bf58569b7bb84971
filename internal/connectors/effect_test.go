package connectors_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestAToolsEffectIsWhatItsServerSays(t *testing.T) {
	t.Parallel()
	for annotations, want := range map[string]connectors.Effect{
		`{}`:                     connectors.EffectUnsaid,
		`{"openWorldHint":true}`: connectors.EffectUnsaid,
		`{"readOnlyHint":true}`:  connectors.EffectReadOnly,
		`{"readOnlyHint":true,"destructiveHint":true}`:   connectors.EffectReadOnly, // the other has no meaning then
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
