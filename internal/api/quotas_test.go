package api_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestAToolsQuotaIsAnsweredWith429(t *testing.T) {
	t.Parallel()
	w := newCallWorld(t, connectors.ApprovalAuto)
	admin, day := w.createKey(t, connectors.RoleAdmin), connectors.QuotaDay(time.Now())
	const tool = "/api/v1/connectors/box/tools/echo"
	bounded := w.call(t, admin, http.MethodPatch, tool, `{"calls_per_minute": 0, "calls_per_day": 1}`).want(http.StatusOK)
	if bounded["calls_per_day"] != 1.0 || bounded["calls_per_minute"] != 0.0 {
		t.Errorf("%v", bounded)
	}
	for body, at := range map[string]string{`{"calls_per_day": -1}`: "calls_per_day", `{"calls_per_minute": 1000001}`: "calls_per_minute"} {
		got := w.call(t, admin, http.MethodPatch, tool, body)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff([]string{at}, got.locations()); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	last := w.createCall(t, "echo", `{}`)
	for last.status == http.StatusCreated {
		last = w.createCall(t, "echo", `{}`)
	}
	last.problem(http.StatusTooManyRequests, "quota-exceeded")
	if seconds, err := strconv.Atoi(last.header.Get("Retry-After")); err != nil || seconds < 1 || seconds > 24*60*60 {
		t.Errorf("Retry-After: %q", last.header.Get("Retry-After"))
	}
	w.createCall(t, "fail", `{}`).want(http.StatusCreated) // another tool
	calls := w.call(t, admin, http.MethodGet, "/api/v1/tool_calls?tool=echo&limit=1", nil).want(http.StatusOK)["items"].([]any)
	if why := calls[0].(map[string]any)["error"].(map[string]any); why["code"] != "quota_exceeded" {
		t.Errorf("on record: %v", calls[0])
	}
	w.caller.CountQuotas(t.Context())
	uses := w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodGet, "/api/v1/quotas", nil).want(http.StatusOK)
	if !connectors.QuotaDay(time.Now()).Equal(day) {
		return // the day changed in between
	}
	want := map[string]any{
		"since": day.Format(time.RFC3339), "until": day.Add(24 * time.Hour).Format(time.RFC3339),
		"items": []any{map[string]any{
			"connector": "box", "tool": "echo", "calls_per_minute": 0.0, "calls_per_day": 1.0, "calls": 1.0, "over_minute": 0.0, "over_day": 1.0,
		}},
	}
	if diff := cmp.Diff(want, uses); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
