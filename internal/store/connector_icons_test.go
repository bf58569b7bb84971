package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestSaveIcon_ReplacesAndRemovesTheIcon(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, bare := w.Connector(t), w.Connector(t)
	parts := w.Door().Connectors()
	get := func() connectors.Connector {
		t.Helper()
		got, err := parts.Get(t.Context(), connectors.Ref(c.Slug))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if get().IconHash != nil {
		t.Error("a new connector has an icon")
	}
	for _, icon := range []connectors.Icon{{MediaType: "image/png", Picture: []byte("one")}, {MediaType: "image/webp", Picture: []byte("two")}} {
		if err := parts.SaveIcon(t.Context(), c.ID, &icon); err != nil {
			t.Fatal(err)
		}
		have, err := parts.Icon(t.Context(), c.ID)
		if diff := cmp.Diff(icon, have); diff != "" || err != nil {
			t.Error(diff, err)
		}
		icons, err := parts.Icons(t.Context(), []connectors.Connector{get(), bare})
		if diff := cmp.Diff(map[connectors.ConnectorID]connectors.Icon{c.ID: icon}, icons); diff != "" || err != nil {
			t.Error(diff, err)
		}
		marks, err := parts.Marks(t.Context(), []string{c.Slug, bare.Slug, "none"})
		want := map[string]store.ConnectorMark{c.Slug: {URL: c.URL, IconHash: icon.Hash()}, bare.Slug: {URL: bare.URL}}
		if diff := cmp.Diff(want, marks); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	if err := parts.SaveIcon(t.Context(), c.ID, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := parts.Icon(t.Context(), c.ID); !fault.Is(err, fault.NotFound) || get().IconHash != nil {
		t.Errorf("after its end: %v, %v", err, get().IconHash)
	}
}

func TestSaveIcon_DatabaseBoundsTheIcon(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	for name, icon := range map[string]connectors.Icon{
		"too large": {MediaType: "image/png", Picture: make([]byte, connectors.MaxIconBytes+1)},
		"svg":       {MediaType: "image/svg+xml", Picture: []byte("<svg/>")},
		"empty":     {MediaType: "image/png", Picture: []byte{}},
	} {
		if err := w.Door().Connectors().SaveIcon(t.Context(), c.ID, &icon); err == nil {
			t.Errorf("%s: it is stored", name)
		}
	}
}
