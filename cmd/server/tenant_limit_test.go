package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTenantLimit_IsAudited(t *testing.T) {
	t.Parallel()
	i := installed(t)
	limits := func() []string {
		t.Helper()
		return i.texts(t, `select actor_name || ': ' || target || ' ' || (detail->'before')::text || ' ' || (detail->'after')::text
			from audit_events where action = 'tenant.limit' order by id`)
	}
	if said := i.must(t, "tenant", "limit", "default"); said != "Tool call limits of default: no limit per minute, no limit per day. Its owner set no limit and no limit.\n" {
		t.Errorf("%q", said)
	}
	i.must(t, "tenant", "limit", "default", "--calls-per-minute", "0") // unchanged
	if made := limits(); len(made) > 0 {
		t.Errorf("a look, and what is so already, are on record: %q", made)
	}

	if said := i.must(t, "tenant", "limit", "default", "--calls-per-minute", "600"); !strings.Contains(said, "Tool call limits of default: 600 per minute, no limit per day.") {
		t.Errorf("%q", said)
	}
	if said := i.must(t, "tenant", "limit", "default", "--calls-per-day", "5000"); !strings.Contains(said, "Tool call limits of default: 600 per minute, 5000 per day.") {
		t.Errorf("the other stays: %q", said)
	}
	i.must(t, "tenant", "limit", "default", "--calls-per-minute", "0", "--calls-per-day", "0")
	want := []string{
		`command line: default {"most_calls_per_minute": 0} {"most_calls_per_minute": 600}`,
		`command line: default {"most_calls_per_day": 0} {"most_calls_per_day": 5000}`,
		`command line: default {"most_calls_per_day": 5000, "most_calls_per_minute": 600} {"most_calls_per_day": 0, "most_calls_per_minute": 0}`,
	}
	if diff := cmp.Diff(want, limits()); diff != "" {
		t.Errorf("on record (-want +got):\n%s", diff)
	}

	if code, _, stderr := i.try(t, "tenant", "limit", "default", "--calls-per-minute=-1"); code != exitFailed || len(limits()) != 3 {
		t.Errorf("%d %s: %q", code, stderr, limits())
	}
	if code, _, stderr := i.try(t, "tenant", "limit", "nowhere"); code != exitFailed || !strings.Contains(stderr, `No tenant "nowhere"`) {
		t.Errorf("%d %s", code, stderr)
	}
}
