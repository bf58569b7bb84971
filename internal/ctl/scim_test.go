package ctl

import (
	"strings"
	"testing"
)

func TestSCIM_ShowsAndChanges(t *testing.T) {
	t.Parallel()
	const on = `{"enabled": true, "url": "https://patchbay.example.com/scim/v2", "token_prefix": "pb_scim_ab", "created_at": "2026-11-30T08:00:00Z",
		"rotated_at": null, "last_request_at": "2026-11-30T09:00:00Z", "users": 3, "members": 2, "groups": 1`
	for line, want := range map[string]struct{ reply, request, out string }{
		"show":    {on + "}", "GET /api/v1/scim", "https://patchbay.example.com/scim/v2"},
		"enable":  {on + `, "token": "pb_scim_first"}`, "POST /api/v1/scim", "pb_scim_first\n"},
		"rotate":  {on + `, "token": "pb_scim_second"}`, "POST /api/v1/scim/rotate_token", "pb_scim_second\n"},
		"disable": {"", "DELETE /api/v1/scim", "SCIM is off.\n"},
	} {
		out, request, err := runLine(t, want.reply, "scim "+line)
		if err != nil || request != want.request || !strings.Contains(out, want.out) {
			t.Errorf("%s: %q, %v; the API got %s", line, out, err, request)
		}
	}
}
