package admin

import (
	"fmt"
	"time"

	"patchbay/web/templates"
)

// when puts a time into words, as seen at now.
func when(t, now time.Time) templates.When {
	utc := t.UTC()
	return templates.When{
		Text:  relative(t, now),
		Title: utc.Format("2 Jan 2006, 15:04:05 UTC"),
		ISO:   utc.Format(time.RFC3339),
	}
}

// whenOrNever is when, or the word for a time that never was.
func whenOrNever(t *time.Time, now time.Time) templates.When {
	if t == nil {
		return templates.When{Text: "never"}
	}
	return when(*t, now)
}

func relative(t, now time.Time) string {
	d := now.Sub(t)
	if d < 0 {
		return until(-d, t)
	}
	switch {
	case d < 10*time.Second:
		return "just now"
	case d < time.Minute:
		return plural(int(d.Seconds()), "second") + " ago"
	case d < time.Hour:
		return plural(int(d.Minutes()), "minute") + " ago"
	case d < 24*time.Hour:
		return plural(int(d.Hours()), "hour") + " ago"
	case d < 48*time.Hour:
		return "yesterday"
	case d < 30*24*time.Hour:
		return plural(int(d.Hours())/24, "day") + " ago"
	default:
		return t.UTC().Format("2 Jan 2006")
	}
}

// until words a time ahead: when a key expires. A clock that runs a little behind the database's makes no future.
func until(d time.Duration, t time.Time) string {
	switch {
	case d < 10*time.Second:
		return "just now"
	case d < time.Hour:
		return "in " + plural(max(1, int(d.Minutes())), "minute")
	case d < 48*time.Hour:
		return "in " + plural(int(d.Hours()), "hour")
	case d < 30*24*time.Hour:
		return "in " + plural(int(d.Hours())/24, "day")
	default:
		return "on " + t.UTC().Format("2 Jan 2006")
	}
}

// took words how long something took: "340 ms", "1.2 s", "2 min 5 s".
func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "under 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
}

// every words an interval: "every 15 minutes".
func every(d time.Duration) string {
	switch {
	case d <= 0:
		return "never by itself"
	case d%(24*time.Hour) == 0:
		return "every " + single(int(d.Hours())/24, "day")
	case d%time.Hour == 0:
		return "every " + single(int(d.Hours()), "hour")
	case d%time.Minute == 0:
		return "every " + single(int(d.Minutes()), "minute")
	default:
		return "every " + single(int(d.Seconds()), "second")
	}
}

// single leaves out the number one: "every hour".
func single(n int, word string) string {
	if n == 1 {
		return word
	}
	return plural(n, word)
}
