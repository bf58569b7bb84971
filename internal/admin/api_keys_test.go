package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestAPIKey_ListNamesCreatorAndWarnsOfExpiry(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	owner := d.signInAsRole(connectors.RoleOwner)
	owner.get("/api-keys").want(t, http.StatusOK, "No keys yet", "Create API key")

	end := time.Now().UTC().AddDate(0, 0, 20).Format(time.DateOnly)
	owner.post("/api-keys", url.Values{"name": {"warehouse"}, "role": {"viewer"}, "expires_at": {end}}).want(t, http.StatusOK, "shown only once")
	owner.post("/api-keys", url.Values{"name": {"nightly"}, "role": {"member"}}).want(t, http.StatusOK)
	p := owner.get("/api-keys")
	p.want(t, http.StatusOK, "warehouse", "nightly", " by person-")
	if p.says("expires soon") || p.says("Expires soon") {
		t.Error("20 days before, the page warns already")
	}

	d.ahead.Store(int64(15 * 24 * time.Hour))
	p = d.signInAsRole(connectors.RoleOwner).get("/api-keys")
	p.want(t, http.StatusOK, "“warehouse” expires soon", "Expires soon")
	if strings.Count(p.Body, "Expires soon") != 1 {
		t.Error("the key that never ends is warned of, too")
	}

	d.ahead.Store(int64(30 * 24 * time.Hour))
	p = d.signInAsRole(connectors.RoleOwner).get("/api-keys")
	p.want(t, http.StatusOK, "Expired")
	if p.says("expires soon") {
		t.Error("a key that has stopped is warned of")
	}
}
