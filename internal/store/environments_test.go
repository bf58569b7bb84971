package store_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/testing/fixture"
)

// program makes a draft one of stdio.
func program(d *connectors.Draft) {
	d.Transport, d.URL = connectors.TransportStdio, ""
	d.Command = connectors.Command{Path: "/usr/bin/server", Args: []string{"--stdio", "a b"}, Dir: "/srv"}
}

func TestACommandIsStoredWithItsConnector(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t, program)
	want := connectors.Command{Path: "/usr/bin/server", Args: []string{"--stdio", "a b"}, Dir: "/srv"}
	if diff := cmp.Diff(want, c.Command); diff != "" || c.URL != "" || len(c.EnvNames) != 0 {
		t.Errorf("%s\n%q, %q", diff, c.URL, c.EnvNames)
	}
}

func TestEnvironment_ListsNamesOnly(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t, program)
	e := connectors.Environment{"TOKEN": "s3cret", "A": ""}
	if err := w.Door().Connectors().SetEnvironment(t.Context(), c, e); err != nil {
		t.Fatal(err)
	}
	seen, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	if err != nil || !slices.Equal(seen.EnvNames, []string{"A", "TOKEN"}) {
		t.Errorf("names = %q, %v", seen.EnvNames, err)
	}
	got, err := w.St.Vault(w.Tenant).Environment(t.Context(), c)
	if diff := cmp.Diff(e, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for range 2 { // the second time there is nothing left
		if _, err := w.Door().Connectors().DeleteEnvironment(t.Context(), c.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.St.Vault(w.Tenant).Environment(t.Context(), c); !fault.Is(err, fault.NotFound) {
		t.Errorf("after its end: %v", err)
	}
}

func TestAnEnvironmentIsGivenToNoOtherProgram(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t, program)
	if err := w.Door().Connectors().SetEnvironment(t.Context(), c, connectors.Environment{"TOKEN": "s3cret"}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*connectors.Command){
		"another path":     func(c *connectors.Command) { c.Path = "/usr/bin/env" },
		"another argument": func(c *connectors.Command) { c.Args = []string{"--stdio", "a", "b"} },
		"another folder":   func(c *connectors.Command) { c.Dir = "/tmp" },
	} {
		other := c
		change(&other.Command)
		if e, err := w.St.Vault(w.Tenant).Environment(t.Context(), other); !fault.Is(err, fault.NotFound) || e != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSync_StoresServerEra(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	if err := asSystem(t.Context(), w.Pool, "update connectors set era = 'modern' where id = $1", []any{c.ID}); err != nil {
		t.Fatal(err)
	}
	d := connectors.DraftOf(c)
	d.Description = "Another"
	same, err := w.Door().Connectors().Update(t.Context(), c.ID, 0, d)
	if err != nil || same.Era != "modern" {
		t.Errorf("another description: %q, %v", same.Era, err)
	}
	d.URL += "/v2"
	moved, err := w.Door().Connectors().Update(t.Context(), c.ID, 0, d)
	if err != nil || moved.Era != "" {
		t.Errorf("another URL: %q, %v", moved.Era, err)
	}
}

func TestEnvironment_ValuesAreSealed(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t, program)
	if err := w.Door().Connectors().SetEnvironment(t.Context(), c, connectors.Environment{"TOKEN": "sekret-value"}); err != nil {
		t.Fatal(err)
	}
	var sealed []byte
	if err := asSystem(t.Context(), w.Pool, "select sealed from connector_envs", nil, &sealed); err != nil || bytes.Contains(sealed, []byte("sekret")) || bytes.Contains(sealed, []byte("TOKEN")) {
		t.Errorf("it does, or %v", err)
	}
}
