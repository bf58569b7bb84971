package shell

import (
	"context"
	"time"

	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// NewWhen formats a time relative to now. The layouts of dates are texts of the language.
func NewWhen(ctx context.Context, t, now time.Time) templates.When {
	utc := t.UTC()
	return templates.When{
		Text:  FormatRelative(ctx, t, now),
		Title: utc.Format(i18n.T(ctx, "2 Jan 2006, 15:04:05 UTC")),
		ISO:   utc.Format(time.RFC3339),
	}
}

// NewWhenOrNever is NewWhen, or "never" for nil.
func NewWhenOrNever(ctx context.Context, t *time.Time, now time.Time) templates.When {
	if t == nil {
		return templates.When{Text: i18n.T(ctx, "never")}
	}
	return NewWhen(ctx, *t, now)
}

// FormatEnd says when access ends or ended; empty: never.
func FormatEnd(ctx context.Context, end *time.Time, now time.Time) string {
	if end == nil {
		return ""
	}
	at := end.UTC().Format(i18n.T(ctx, "2 Jan 2006, 15:04:05 UTC"))
	if end.After(now) {
		return i18n.T(ctx, "Ends on %s", at)
	}
	return i18n.T(ctx, "Ended on %s", at)
}

// NewSince is NewWhen as the time that has passed: "for 8 minutes".
func NewSince(ctx context.Context, t, now time.Time) templates.When {
	w, d := NewWhen(ctx, t, now), now.Sub(t)
	switch {
	case d < time.Minute:
	case d < time.Hour:
		w.Text = i18n.N(ctx, int(d.Minutes()), "for %s minute", "for %s minutes")
	case d < 48*time.Hour:
		w.Text = i18n.N(ctx, int(d.Hours()), "for %s hour", "for %s hours")
	default:
		w.Text = i18n.N(ctx, int(d.Hours())/24, "for %s day", "for %s days")
	}
	return w
}

// FormatRelative writes a time as its distance from now.
func FormatRelative(ctx context.Context, t, now time.Time) string {
	d := now.Sub(t)
	if d < 0 {
		return formatRemaining(ctx, -d, t)
	}
	switch {
	case d < 10*time.Second:
		return i18n.T(ctx, "just now")
	case d < time.Minute:
		return i18n.N(ctx, int(d.Seconds()), "%s second ago", "%s seconds ago")
	case d < time.Hour:
		return i18n.N(ctx, int(d.Minutes()), "%s minute ago", "%s minutes ago")
	case d < 24*time.Hour:
		return i18n.N(ctx, int(d.Hours()), "%s hour ago", "%s hours ago")
	case d < 48*time.Hour:
		return i18n.T(ctx, "yesterday")
	case d < 30*24*time.Hour:
		return i18n.N(ctx, int(d.Hours())/24, "%s day ago", "%s days ago")
	default:
		return t.UTC().Format(i18n.T(ctx, "2 Jan 2006"))
	}
}

// formatRemaining formats a time ahead, as of a key's expiry, rounded: a new link of 24 hours expires in 24 hours. A
// clock slightly behind the database's gives no future time.
func formatRemaining(ctx context.Context, d time.Duration, t time.Time) string {
	minutes, hours := int(d.Round(time.Minute)/time.Minute), int(d.Round(time.Hour)/time.Hour)
	switch {
	case d < 10*time.Second:
		return i18n.T(ctx, "just now")
	case minutes < 60:
		return i18n.N(ctx, max(1, minutes), "in %s minute", "in %s minutes")
	case hours < 48:
		return i18n.N(ctx, hours, "in %s hour", "in %s hours")
	case d < 30*day:
		return i18n.N(ctx, int(d.Round(day)/day), "in %s day", "in %s days")
	default:
		return i18n.T(ctx, "on %s", t.UTC().Format(i18n.T(ctx, "2 Jan 2006")))
	}
}

// FormatDuration formats a duration: "340 ms", "1.2 s", "2 min 5 s".
func FormatDuration(ctx context.Context, d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return i18n.T(ctx, "under 1 ms")
	case d < time.Second:
		return i18n.T(ctx, "%d ms", d.Milliseconds())
	case d < time.Minute:
		return i18n.T(ctx, "%.1f s", d.Seconds())
	default:
		return i18n.T(ctx, "%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
}

// FormatInterval formats an interval: "every 15 minutes".
func FormatInterval(ctx context.Context, d time.Duration) string {
	switch {
	case d <= 0:
		return i18n.T(ctx, "manually")
	case d%(24*time.Hour) == 0:
		return i18n.N(ctx, int(d.Hours())/24, "every day", "every %s days")
	case d%time.Hour == 0:
		return i18n.N(ctx, int(d.Hours()), "every hour", "every %s hours")
	case d%time.Minute == 0:
		return i18n.N(ctx, int(d.Minutes()), "every minute", "every %s minutes")
	default:
		return i18n.N(ctx, int(d.Seconds()), "every second", "every %s seconds")
	}
}
