package admin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"patchbay/internal/admin"
	"patchbay/internal/connectors"
)

func TestSSOStart_IsRateLimitedByAddress(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := newDashboard(t, func(o *admin.Options) { o.Now = func() time.Time { return now } }).browser()
	begin := func() page { return b.post("/login/sso", url.Values{"email": {"ann@nobody.example"}}) }
	for n := range 300 {
		if p := begin(); p.Status != http.StatusUnprocessableEntity {
			t.Fatalf("the start number %d is answered %d", n+1, p.Status)
		}
	}
	begin().want(t, http.StatusTooManyRequests, "Too many sign-ins from this address. Try again in a moment.", "ann@nobody.example")
	now = now.Add(time.Second)
	for range 5 {
		begin().want(t, http.StatusUnprocessableEntity)
	}
	begin().want(t, http.StatusTooManyRequests)
}

// A request that is too long to return to after a sign-in is refused, and not dropped on the way.
func TestSSOStart_TooLongReturnIsRefused(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	const says = "This URL is too long to keep during sign-in. Nothing was allowed or changed."
	asked := d.authorizePath("Inspector", programsCallback) + "&more="
	long := asked + strings.Repeat("a", 8<<10+1-len(asked))
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get(long).want(t, http.StatusUnprocessableEntity, says)
	d.browser().post("/login/sso", url.Values{"email": {"ann@nobody.example"}, "return_to": {long}}).want(t, http.StatusUnprocessableEntity, says)
	b.get(long[:8<<10]).want(t, http.StatusOK, "Inspector")
	d.browser().post("/login/sso", url.Values{"email": {"ann@nobody.example"}, "return_to": {long[:8<<10]}}).
		want(t, http.StatusUnprocessableEntity, "This address has no single sign-on.", "response_type=code")
}
