package operator

import (
	"testing"
	"time"
)

func TestParseExpiry_DurationOrTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"720h":                 "2026-03-31T12:00:00Z",
		"30d":                  "2026-03-31T12:00:00Z",
		"2027-01-31":           "2027-01-31T00:00:00Z",
		"2027-01-31T10:00:00Z": "2027-01-31T10:00:00Z",
	} {
		at, err := parseExpiry(text, now)
		if err != nil || at.Format(time.RFC3339) != want {
			t.Errorf("%q: have %v, %v; want %s", text, at, err, want)
		}
	}
	if at, err := parseExpiry("", now); at != nil || err != nil {
		t.Errorf("nothing is no expiry: %v, %v", at, err)
	}
	for _, text := range []string{"soon", "d", "0d", "-3d", "-5m", "70000d", "31.1.2027"} {
		if at, err := parseExpiry(text, now); err == nil {
			t.Errorf("%q is taken as %v", text, at)
		}
	}
}
