package admin

import (
	"context"
	"strings"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

func sessionRows(ctx context.Context, sessions []connectors.Session, here connectors.SessionID, now time.Time) []templates.SessionRow {
	rows := make([]templates.SessionRow, len(sessions))
	for i, s := range sessions {
		rows[i] = templates.SessionRow{
			Device:  device(ctx, s.UserAgent),
			Address: s.Address,
			Here:    s.ID == here,
			Began:   when(ctx, s.Began, now),
			Seen:    when(ctx, s.Seen, now),
			Action:  "/account/sessions/" + s.ID.String() + "/revoke",
		}
	}
	return rows
}

// sessionLimits says when a session ends by itself.
func sessionLimits(ctx context.Context, a *auth.Service) string {
	idle, lifetime := a.SessionLimits()
	return words.T(ctx, "A session ends after %s without use, and after %s in any case.", lasting(ctx, idle), lasting(ctx, lifetime))
}

// lasting words a length of time.
func lasting(ctx context.Context, d time.Duration) string {
	switch {
	case d >= 48*time.Hour && d%(24*time.Hour) == 0:
		return words.N(ctx, int(d.Hours())/24, "%s day", "%s days")
	case d%time.Hour == 0:
		return words.N(ctx, int(d.Hours()), "%s hour", "%s hours")
	default:
		return words.N(ctx, int(d.Minutes()), "%s minute", "%s minutes")
	}
}

// sign is a part of what browsers say of themselves, and what it says to people.
type sign struct{ part, name string }

// Each browser also names those that it wants to be taken for: the first that matches counts.
var (
	browserSigns = []sign{
		{"Edg/", "Edge"}, {"EdgA/", "Edge"}, {"EdgiOS/", "Edge"}, {"OPR/", "Opera"}, {"Vivaldi/", "Vivaldi"}, {"SamsungBrowser/", "Samsung Internet"},
		{"FxiOS/", "Firefox"}, {"Firefox/", "Firefox"}, {"CriOS/", "Chrome"}, {"HeadlessChrome/", "Chrome"}, {"Chromium/", "Chromium"}, {"Chrome/", "Chrome"},
		{"Safari/", "Safari"}, {"curl/", "curl"},
	}
	systemSigns = []sign{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"CrOS", "ChromeOS"}, {"Macintosh", "Mac"}, {"Linux", "Linux"},
	}
)

// device words what a browser says of itself: "Firefox on Linux". It is what it says, and proves nothing.
func device(ctx context.Context, userAgent string) string {
	browser, system := saidName(userAgent, browserSigns), saidName(userAgent, systemSigns)
	switch {
	case browser == "" && system == "":
		return words.T(ctx, "A browser that does not say its name")
	case browser == "":
		return words.T(ctx, "A browser on %s", system)
	case system == "":
		return browser
	default:
		return words.T(ctx, "%s on %s", browser, system)
	}
}

func saidName(said string, signs []sign) string {
	for _, s := range signs {
		if strings.Contains(said, s.part) {
			return s.name
		}
	}
	return ""
}
