package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestAPIKey_WorksUntilRevoked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	made := w.call(t, owner, http.MethodPost, "/api/v1/api_keys",
		`{"name": "CI", "role": "viewer", "expires_at": "2099-01-01T00:00:00+02:00"}`).want(http.StatusCreated)
	key := made["key"].(string)
	if !strings.HasPrefix(key, "pb_key_") || made["role"] != "viewer" || made["expires_at"] != "2098-12-31T22:00:00Z" {
		t.Errorf("%v", made)
	}
	w.call(t, key, http.MethodGet, "/api/v1/connectors", nil).want(http.StatusOK)
	list := w.call(t, owner, http.MethodGet, "/api/v1/api_keys", nil)
	if strings.Contains(string(list.body), key) || strings.Contains(string(list.body), `"key"`) {
		t.Errorf("%s", list.body)
	}
	if got := w.call(t, owner, http.MethodDelete, "/api/v1/api_keys/"+made["id"].(string), nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	w.call(t, key, http.MethodGet, "/api/v1/connectors", nil).problem(http.StatusUnauthorized, "unauthenticated")
}

func TestKeysFieldsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	for body, at := range map[string][]string{
		`{}`:                                 {"name", "role"},
		`{"name": "A"}`:                      {"role"},
		`{"name": "", "role": "viewer"}`:     {"name"},
		`{"name": "A", "role": "superuser"}`: {"role"},
		`{"name": "A", "role": null}`:        {"role"},
		`{"name": "A", "role": "viewer", "expires_at": "tomorrow"}`:             {"expires_at"},
		`{"name": "A", "role": "viewer", "expires_at": "2001-01-01T00:00:00Z"}`: {"expires_at"},
		`{"name": "A", "role": "viewer", "expires_at": 4102444800}`:             {"expires_at"},
	} {
		got := w.call(t, owner, http.MethodPost, "/api/v1/api_keys", body)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff(at, got.locations()); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	never := w.call(t, owner, http.MethodPost, "/api/v1/api_keys", `{"name": "A", "role": "viewer", "expires_at": null}`).want(http.StatusCreated)
	if never["expires_at"] != nil {
		t.Errorf("%v", never)
	}
}

func TestMembersAreAddedChangedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	made := w.call(t, owner, http.MethodPost, "/api/v1/members",
		`{"email": "Ann@Example.com", "name": "Ann", "role": "owner", "password": "correct horse"}`).want(http.StatusCreated)
	if made["email"] != "ann@example.com" || made["role"] != "owner" || made["last_signed_in_at"] != nil {
		t.Errorf("%v", made)
	}
	path := "/api/v1/members/" + made["id"].(string)
	w.call(t, owner, http.MethodPatch, path, `{"role": "viewer"}`).problem(http.StatusConflict, "last-owner")
	w.call(t, owner, http.MethodDelete, path, nil).problem(http.StatusConflict, "last-owner")

	w.Member(t, connectors.RoleOwner)
	changed := w.call(t, owner, http.MethodPatch, path, `{"role": "viewer"}`).want(http.StatusOK)
	if changed["role"] != "viewer" {
		t.Errorf("%v", changed)
	}
	read := w.call(t, owner, http.MethodGet, path, nil).want(http.StatusOK)
	if diff := cmp.Diff(changed, read); diff != "" {
		t.Error(diff)
	}
	if got := w.call(t, owner, http.MethodDelete, path, nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	w.call(t, owner, http.MethodGet, path, nil).problem(http.StatusNotFound, "not-found")
}

func TestMembersFieldsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	for body, at := range map[string][]string{
		`{}`: {"email", "role", "password"},
		`{"email": "nobody", "role": "viewer", "password": "long enough"}`:     {"email"},
		`{"email": "a@b.c", "role": "boss", "password": "long enough"}`:        {"role"},
		`{"email": "a@b.c", "role": "viewer", "password": "short"}`:            {"password"},
		`{"email": "a@b.c", "role": "viewer", "password": ["long", "enough"]}`: {"password"},
	} {
		got := w.call(t, owner, http.MethodPost, "/api/v1/members", body)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff(at, got.locations()); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestTheTenantIsReadAndRenamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	before := w.call(t, owner, http.MethodGet, "/api/v1/tenant", nil).want(http.StatusOK)
	after := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", `{"name": "Acme & Sons"}`).want(http.StatusOK)
	if before["name"] != "Acme" || after["name"] != "Acme & Sons" || after["slug"] != before["slug"] || after["id"] != before["id"] {
		t.Errorf("%v %v", before, after)
	}
	got := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", `{"name": ""}`)
	got.problem(http.StatusUnprocessableEntity, "invalid")
	if diff := cmp.Diff([]string{"name"}, got.locations()); diff != "" {
		t.Error(diff)
	}
}

func TestTenant_CallSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	before := w.call(t, owner, http.MethodGet, "/api/v1/tenant", nil).want(http.StatusOK)
	if before["call_history"] != "redacted" || before["approval_timeout_s"] != 300.0 {
		t.Errorf("%v", before)
	}
	one := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", `{"call_history": "none"}`).want(http.StatusOK)
	two := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", `{"approval_timeout_s": 7}`).want(http.StatusOK)
	if one["approval_timeout_s"] != 300.0 || two["call_history"] != "none" || two["approval_timeout_s"] != 7.0 {
		t.Errorf("%v %v", one, two)
	}
	for body, at := range map[string]string{
		`{"name": "New", "call_history": "all"}`:    "call_history",
		`{"name": "New", "approval_timeout_s": 0}`:  "approval_timeout_s",
		`{"approval_timeout_s": 86401}`:             "approval_timeout_s",
		`{"approval_timeout_s": null}`:              "approval_timeout_s",
		`{"name": "", "call_history": "full"}`:      "name",
		`{"call_history": "full", "unknown": true}`: "unknown",
	} {
		got := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", body)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff([]string{at}, got.locations()); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	after := w.call(t, owner, http.MethodGet, "/api/v1/tenant", nil).want(http.StatusOK)
	if diff := cmp.Diff(two, after); diff != "" {
		t.Errorf("a refused change left something behind: %s", diff)
	}
}

func TestTenant_DownAfterIsSetAndChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	before := w.call(t, owner, http.MethodGet, "/api/v1/tenant", nil).want(http.StatusOK)
	if before["down_after_failures"] != 3.0 || before["down_after_minutes"] != 10.0 {
		t.Errorf("%v", before)
	}
	after := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", `{"down_after_minutes": 45}`).want(http.StatusOK)
	if after["down_after_failures"] != 3.0 || after["down_after_minutes"] != 45.0 {
		t.Errorf("%v", after)
	}
	if detail := w.readLatestDetail(t, "tenant.configure"); !strings.Contains(fmt.Sprint(detail), "45") {
		t.Errorf("audit: %v", detail)
	}
	for body, at := range map[string]string{
		`{"down_after_failures": 0}`: "down_after_failures", `{"down_after_failures": 101}`: "down_after_failures",
		`{"down_after_minutes": 0}`: "down_after_minutes", `{"down_after_minutes": 10081}`: "down_after_minutes",
	} {
		got := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", body)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff([]string{at}, got.locations()); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestTenant_RefuseInvalidResultsIsSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	if before := w.call(t, owner, http.MethodGet, "/api/v1/tenant", nil).want(http.StatusOK); before["refuse_invalid_results"] != false {
		t.Errorf("%v", before)
	}
	for _, refuse := range []bool{true, false} {
		after := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", fmt.Sprintf(`{"refuse_invalid_results": %v}`, refuse)).want(http.StatusOK)
		if after["refuse_invalid_results"] != refuse {
			t.Errorf("%v", after)
		}
	}
	if detail := w.readLatestDetail(t, "tenant.configure"); !strings.Contains(fmt.Sprint(detail), "refuse_invalid_results") {
		t.Errorf("audit: %v", detail)
	}
}

func TestATenantSaysHowLongItsHistoryIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.createKey(t, connectors.RoleOwner)
	before := w.call(t, owner, http.MethodGet, "/api/v1/tenant", nil).want(http.StatusOK)
	if before["history_days"] != 0.0 || before["history_days_kept"] != 90.0 || before["history_since"] != nil {
		t.Errorf("%v", before)
	}
	w.OldCalls(t, w.Connector(t), "search", 40, 1)
	long := w.call(t, owner, http.MethodGet, "/api/v1/tenant", nil).want(http.StatusOK)
	short := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", `{"history_days": 30}`).want(http.StatusOK)
	if short["history_days"] != 30.0 || short["history_days_kept"] != 30.0 {
		t.Errorf("%v", short)
	}
	for name, c := range map[string]struct {
		since any
		days  int
	}{"the oldest call": {long["history_since"], 40}, "where it is cut off": {short["history_since"], 30}} {
		at, err := time.Parse(time.RFC3339, c.since.(string))
		if ago := time.Since(at) - time.Duration(c.days)*24*time.Hour; err != nil || ago.Abs() > 2*time.Hour {
			t.Errorf("history reaches back to %v, not to %s", c.since, name)
		}
	}
	for _, days := range []string{"29", "91", "-1", "4000", "null"} {
		got := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", `{"history_days": `+days+`}`)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff([]string{"history_days"}, got.locations()); diff != "" {
			t.Errorf("%s: %s", days, diff)
		}
	}
	after := w.call(t, owner, http.MethodPatch, "/api/v1/tenant", `{"history_days": 0}`).want(http.StatusOK)
	if after["history_days"] != 0.0 || after["history_days_kept"] != 90.0 {
		t.Errorf("%v", after)
	}
}
