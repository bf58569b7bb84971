package shell

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestTimesAreWords(t *testing.T) {
	t.Parallel()
	for ago, want := range map[time.Duration]string{
		0:                                "just now",
		59 * time.Second:                 "59 seconds ago",
		time.Minute:                      "1 minute ago",
		119 * time.Minute:                "1 hour ago",
		25 * time.Hour:                   "yesterday",
		5 * 24 * time.Hour:               "5 days ago",
		40 * 24 * time.Hour:              "12 Oct 2026",
		-3 * time.Second:                 "just now",
		-30 * time.Second:                "in 1 minute",
		-59*time.Minute - 50*time.Second: "in 1 hour",
		-85 * time.Minute:                "in 1 hour",
		-24*time.Hour + time.Second:      "in 24 hours",
		-72*time.Hour + time.Second:      "in 3 days",
		-400 * 24 * time.Hour:            "on 26 Dec 2027",
	} {
		if have := NewWhen(t.Context(), noon.Add(-ago), noon).Text; have != want {
			t.Errorf("%v ago: %q, want %q", ago, have, want)
		}
	}
	want := templates.When{Text: "2 minutes ago", Title: "21 Nov 2026, 11:58:00 UTC", ISO: "2026-11-21T11:58:00Z"}
	if diff := cmp.Diff(want, NewWhen(t.Context(), noon.Add(-2*time.Minute), noon)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(templates.When{Text: "never"}, NewWhenOrNever(t.Context(), nil, noon)); diff != "" {
		t.Error(diff)
	}
}

func TestDatesFollowTheLanguage(t *testing.T) {
	t.Parallel()
	german := i18n.With(t.Context(), i18n.Choose("de", ""))
	w := NewWhen(german, noon.Add(-40*24*time.Hour), noon)
	if w.Text != "12.10.2026" || w.Title != "12.10.2026, 12:00:00 UTC" {
		t.Errorf("%+v", w)
	}
}

func TestDurationsAndIntervalsAreWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		500 * time.Microsecond: "under 1 ms", 340 * time.Millisecond: "340 ms", 1234 * time.Millisecond: "1.2 s", 125 * time.Second: "2 min 5 s",
	} {
		if have := FormatDuration(t.Context(), d); have != want {
			t.Errorf("%v: %q, want %q", d, have, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "manually", 15 * time.Minute: "every 15 minutes", time.Hour: "every hour", 48 * time.Hour: "every 2 days", 90 * time.Second: "every 90 seconds",
	} {
		if have := FormatInterval(t.Context(), d); have != want {
			t.Errorf("%v: %q, want %q", d, have, want)
		}
	}
}

func TestNumbersAreGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1204: "1,204", 1234567: "1,234,567", -32601: "-32,601"} {
		if have := i18n.Number(t.Context(), n); have != want {
			t.Errorf("%d: %q, want %q", n, have, want)
		}
	}
	for want, p := range map[string]templates.Pager{
		"50 tools": {}, "50+ tools": {From: 1, To: 50, Next: "/tools?cursor=a"}, "51–100 tools": {From: 51, To: 100, Previous: "/tools", Next: "/tools?cursor=b"},
		"51–100 of 1,204 tools": {From: 51, To: 100, Total: 1204, Previous: "/tools", Next: "/tools?cursor=b"},
	} {
		if have := FormatCount(t.Context(), 50, p, "%s tool", "%s tools"); have != want {
			t.Errorf("%q, want %q", have, want)
		}
	}
}

func TestHiddenCharactersAreShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"safe":                       "safe",
		"two\r\n\tlines":             "two\r\n\tlines",
		"👩‍🚀":                        "👩‍🚀",
		"delete\u202Eetirw":          `delete\u202eetirw`,
		"zero\u200Bwidth":            `zero\u200bwidth`,
		"tag\U000E0041":              `tag\udb40\udc41`,
		"bell\a and \x1b[31m colour": `bell\u0007 and \u001b[31m colour`,
		"\xff":                       "\uFFFD",
	} {
		if have := CleanText(text); have != want {
			t.Errorf("%q: %q, want %q", text, have, want)
		}
	}
}

func TestAllTools(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{-1: "All tools", 0: "All tools", 1: "All tools", 2: "All 2 tools", 1204: "All 1,204 tools"} {
		if have := AllTools(t.Context(), n); have != want {
			t.Errorf("%d tools: %q, want %q", n, have, want)
		}
	}
}
