package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/fault"
)

func TestRun_FailuresAreSentences(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial unix: no such file")
	for name, tc := range map[string]struct {
		err  error
		want []string
	}{
		"a fault":            {fault.Wrap(fault.Unavailable, cause, "The database does not answer."), []string{"The database does not answer."}},
		"a fault on the way": {fmt.Errorf("seed: %w", fault.Errorf(fault.Conflict, "It is there.")), []string{"It is there."}},
		"wrong fields":       {fault.InvalidFields(fault.Field{Location: "a", Message: "A must."}, fault.Field{Location: "b", Message: "B must."}), []string{"A must.", "B must."}},
		"our own mistake":    {fault.Wrap(fault.Internal, cause, "The keyset cannot be written"), []string{"The keyset cannot be written: dial unix: no such file"}},
		"no fault at all":    {cause, []string{"dial unix: no such file"}},
	} {
		if diff := cmp.Diff(tc.want, toSentences(tc.err)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestRun_RefusesSettingsOfAllGroupsTogether(t *testing.T) {
	t.Parallel()
	err := mergeFields(
		fault.InvalidFields(fault.Field{Location: "PATCHBAY_ADDR", Message: "a"}),
		nil,
		fault.InvalidFields(fault.Field{Location: "PATCHBAY_LOG_LEVEL", Message: "b"}),
	)
	if diff := cmp.Diff([]string{"a", "b"}, toSentences(err)); diff != "" {
		t.Error(diff)
	}
	if err := mergeFields(nil, nil); err != nil {
		t.Errorf("nothing wrong is %v", err)
	}
}
