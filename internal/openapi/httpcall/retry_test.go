package httpcall_test

import (
	"net/http"
	"testing"
	"time"

	"patchbay/internal/openapi/httpcall"
)

func TestReadRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		status int
		header http.Header
		want   time.Duration
	}{
		"nothing":               {429, http.Header{}, 0},
		"seconds":               {503, http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		"a date":                {429, http.Header{"Retry-After": {"Fri, 01 May 2026 12:00:09 GMT"}}, 9 * time.Second},
		"another status":        {500, http.Header{"Retry-After": {"7"}}, 0},
		"a reset in seconds":    {429, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"4"}}, 4 * time.Second},
		"a reset since 1970":    {403, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1777636805"}}, 5 * time.Second},
		"some are left":         {403, http.Header{"X-Ratelimit-Remaining": {"3"}, "X-Ratelimit-Reset": {"4"}}, 0},
		"RateLimit":             {429, http.Header{"Ratelimit": {`"default";r=0;t=30`}}, 30 * time.Second},
		"RateLimit with spaces": {429, http.Header{"Ratelimit": {` "default" ; r=0 ; t=30 `}}, 30 * time.Second},
		"RateLimit, some left":  {429, http.Header{"Ratelimit": {`"default";r=5;t=30`}}, 0},
		"the longest of several limits with nothing left": {429, http.Header{"Ratelimit": {`"burst";r=0;t=2, "day";r=0;t=60`, `"month";r=9;t=900`}}, time.Minute},
		"the window of a policy":                          {429, http.Header{"Ratelimit": {`"day";r=0`}, "Ratelimit-Policy": {`"burst";q=10;w=2,"day";q=100;w=45`}}, 45 * time.Second},
		"separators in a name":                            {429, http.Header{"Ratelimit": {`"a,b;r=5;\"c\"";r=0;t=3`}}, 3 * time.Second},
		"an earlier draft":                                {429, http.Header{"Ratelimit": {"limit=100, remaining=0, reset=50"}}, 50 * time.Second},
		"an earlier draft, some left":                     {429, http.Header{"Ratelimit": {"limit=100, remaining=1, reset=50"}}, 0},
		"Retry-After before RateLimit":                    {429, http.Header{"Retry-After": {"7"}, "Ratelimit": {`"default";r=0;t=30`}}, 7 * time.Second},
		"RateLimit before its earlier fields":             {429, http.Header{"Ratelimit": {`"default";r=0;t=30`}, "X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"4"}}, 30 * time.Second},
		"no list":                                         {429, http.Header{"Ratelimit": {`";r=0;t=30`, `";;==,`}}, 0},
		"no number":                                       {429, http.Header{"Ratelimit": {`"default";r=0;t=soon`}}, 0},
		"negative":                                        {429, http.Header{"Ratelimit": {`"default";r=0;t=-30`}}, 0},
		"a date far away":                                 {429, http.Header{"Retry-After": {"Fri, 01 May 2099 12:00:00 GMT"}}, time.Hour},
		"an epoch far away":                               {429, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"4102444800"}}, time.Hour},
		"an hour at most":                                 {429, http.Header{"Ratelimit": {`"default";r=0;t=86400`}}, time.Hour},
	} {
		if got := httpcall.ReadRetryAfter(tc.status, tc.header, now); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
