package admin_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"patchbay/internal/admin"
)

func TestSoManySignInsBeginFromAnAddress(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := newDashboard(t, func(o *admin.Options) { o.Now = func() time.Time { return now } }).browser()
	begin := func() page { return b.post("/login/sso", url.Values{"email": {"ann@nobody.example"}}) }
	for n := range 300 {
		if p := begin(); p.Status != http.StatusUnprocessableEntity {
			t.Fatalf("the start number %d is answered %d", n+1, p.Status)
		}
	}
	begin().want(t, http.StatusTooManyRequests, "Too many sign-ins began from this address just now.", "ann@nobody.example")
	now = now.Add(time.Second)
	for range 5 {
		begin().want(t, http.StatusUnprocessableEntity)
	}
	begin().want(t, http.StatusTooManyRequests)
}
