package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/fault"
)

func TestSentences_OfEachKind(t *testing.T) {
	t.Parallel()
	cause := errors.New("dial unix: no such file")
	for name, tc := range map[string]struct {
		err  error
		want []string
	}{
		"a fault":            {fault.Wrap(fault.Unavailable, cause, "The database isn't responding."), []string{"The database isn't responding."}},
		"a fault on the way": {fmt.Errorf("seed: %w", fault.Errorf(fault.Conflict, "It is there.")), []string{"It is there."}},
		"wrong fields":       {fault.InvalidFields(fault.Field{Location: "a", Message: "A must."}, fault.Field{Location: "b", Message: "B must."}), []string{"A must.", "B must."}},
		"our own mistake":    {fault.Wrap(fault.Internal, cause, "The keyset cannot be written"), []string{"The keyset cannot be written: dial unix: no such file"}},
		"no fault at all":    {cause, []string{"dial unix: no such file"}},
	} {
		if diff := cmp.Diff(tc.want, fault.Sentences(tc.err)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestMergeFields_OfAllGroups(t *testing.T) {
	t.Parallel()
	err := fault.MergeFields(
		fault.InvalidFields(fault.Field{Location: "PATCHBAY_ADDR", Message: "a"}),
		nil,
		fault.InvalidFields(fault.Field{Location: "PATCHBAY_LOG_LEVEL", Message: "b"}),
	)
	if diff := cmp.Diff([]string{"a", "b"}, fault.Sentences(err)); diff != "" {
		t.Error(diff)
	}
	if err := fault.MergeFields(nil, nil); err != nil {
		t.Errorf("nothing wrong is %v", err)
	}
}
