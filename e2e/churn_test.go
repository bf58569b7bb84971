//go:build e2e

package e2e_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"patchbay/bench/churn"
)

// TestListsAreRightWhileAdminsAct has admins change connectors while agents list and call. PATCHBAY_TEST_CHURN
// is for how long. Too few acts, lists or calls for that time are faults, too.
func TestListsAreRightWhileAdminsAct(t *testing.T) {
	lasts := 15 * time.Second
	if text := os.Getenv("PATCHBAY_TEST_CHURN"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	h := newHome(t, "PATCHBAY_LOG_LEVEL=info")
	s := h.serve()
	key := h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "churn")
	load, err := churn.New(t.Context(), churn.Options{Base: s.base, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	work, stop := context.WithTimeout(t.Context(), lasts)
	defer stop()
	report := load.Run(work)
	for _, sentence := range report.Faults {
		t.Error(sentence)
	}
	select {
	case <-s.exited:
		t.Errorf("the process ended by itself:\n%s", s.stderr.tail(40))
	default:
	}
	for _, line := range strings.Split(s.stderr.text(), "\n") {
		if strings.Contains(line, "panic") || strings.Contains(line, `level=ERROR`) {
			t.Errorf("%.1000s", line)
		}
	}
	t.Logf("in %s: acts %v, lists %v, %d calls, %d of them judged; faults %v", lasts, report.Acts, report.Lists, report.Calls, report.JudgedCalls, report.Wrong)
}
