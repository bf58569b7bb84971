package people

import (
	"context"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

func sessionRows(ctx context.Context, sessions []connectors.Session, current connectors.SessionID, now time.Time) []templates.SessionRow {
	rows := make([]templates.SessionRow, len(sessions))
	for i, s := range sessions {
		rows[i] = templates.SessionRow{
			Device:  deviceName(ctx, s.UserAgent),
			Address: s.Address,
			Here:    s.ID == current,
			Began:   shell.NewWhen(ctx, s.Began, now),
			Seen:    shell.NewWhen(ctx, s.Seen, now),
			Action:  "/account/sessions/" + s.ID.String() + "/revoke",
		}
	}
	return rows
}

// sessionLimits says when a session expires.
func sessionLimits(ctx context.Context, a *auth.Service) string {
	idle, lifetime := a.SessionLimits()
	return i18n.T(ctx, "Session length: %s idle, %s at most.", formatLifetime(ctx, idle), formatLifetime(ctx, lifetime))
}

// formatLifetime formats a duration in days, hours or minutes.
func formatLifetime(ctx context.Context, d time.Duration) string {
	switch {
	case d >= 48*time.Hour && d%(24*time.Hour) == 0:
		return i18n.N(ctx, int(d.Hours())/24, "%s day", "%s days")
	case d%time.Hour == 0:
		return i18n.N(ctx, int(d.Hours()), "%s hour", "%s hours")
	default:
		return i18n.N(ctx, int(d.Minutes()), "%s minute", "%s minutes")
	}
}

// browserSign maps a part of a User-Agent to a name.
type browserSign struct{ part, name string }

// A User-Agent also names the browsers that it imitates, so the first match counts.
var (
	browserSigns = []browserSign{
		{"Edg/", "Edge"}, {"EdgA/", "Edge"}, {"EdgiOS/", "Edge"}, {"OPR/", "Opera"}, {"Vivaldi/", "Vivaldi"}, {"SamsungBrowser/", "Samsung Internet"},
		{"FxiOS/", "Firefox"}, {"Firefox/", "Firefox"}, {"CriOS/", "Chrome"}, {"HeadlessChrome/", "Chrome"}, {"Chromium/", "Chromium"}, {"Chrome/", "Chrome"},
		{"Safari/", "Safari"}, {"curl/", "curl"},
	}
	systemSigns = []browserSign{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"CrOS", "ChromeOS"}, {"Macintosh", "Mac"}, {"Linux", "Linux"},
	}
)

// deviceName names a browser by its User-Agent: "Firefox on Linux". The header proves nothing.
func deviceName(ctx context.Context, userAgent string) string {
	browser, system := matchSign(userAgent, browserSigns), matchSign(userAgent, systemSigns)
	switch {
	case browser == "" && system == "":
		return i18n.T(ctx, "Unknown browser")
	case browser == "":
		return i18n.T(ctx, "Browser on %s", system)
	case system == "":
		return browser
	default:
		return i18n.T(ctx, "%s on %s", browser, system)
	}
}

func matchSign(userAgent string, signs []browserSign) string {
	for _, s := range signs {
		if strings.Contains(userAgent, s.part) {
			return s.name
		}
	}
	return ""
}
