//go:build e2e

package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/testing/pgtest"
)

func TestReplicasStartAtOnceOnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	database := "DATABASE_URL=" + pgtest.Empty(t)
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), database)
	upstream := h.devMCP()
	a, b := h.launch(), h.launch()
	a.waitReady()
	b.waitReady()

	owner := newPerson(t)
	b.setUp(owner)
	key := h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")
	atA, atB := client{t: t, base: a.base, key: key}, client{t: t, base: b.base, key: key}
	atA.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Tools", "url": upstream + "/mcp"})
	atB.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	names := atA.tools("tools")
	if diff := cmp.Diff(atB.tools("tools"), names); diff != "" || len(names) == 0 {
		t.Errorf("the replicas see different tools: %s", diff)
	}

	if found := h.run("doctor"); !strings.Contains(found, "opens the database") {
		t.Errorf("the doctor says:\n%s", found)
	}
	// The migrating process has the database's owner, and needs no keyset.
	operator := *h
	operator.env = append(cleanEnv(), database)
	operator.run("migrate")

	// One dies in the middle of a sync: the other finds out and closes the run.
	stuck := newHanging(t)
	atA.must(http.StatusOK, http.MethodPatch, "/api/v1/connectors/tools", object{"url": stuck.URL + "/mcp"})
	go func() { _, _, _ = atA.try(http.MethodPost, "/connectors/tools/sync_tools", nil) }()
	<-stuck.asked
	a.kill()
	atB.must(http.StatusOK, http.MethodPatch, "/api/v1/connectors/tools", object{"url": upstream + "/mcp"})
	eventually(t, func() error {
		status, answer, err := atB.try(http.MethodPost, "/connectors/tools/sync_tools", nil)
		if err == nil && status != http.StatusOK {
			return &refusal{status, answer}
		}
		return err
	})
	if code := b.terminate(); code != 0 {
		t.Errorf("the second replica ended with %d", code)
	}
}
