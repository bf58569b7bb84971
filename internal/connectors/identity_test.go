package connectors_test

import (
	"testing"

	"patchbay/internal/connectors"
)

func TestIdentity_IsOther(t *testing.T) {
	t.Parallel()
	ann := connectors.Identity{Issuer: "https://as.example", Subject: "7", Name: "ann@example.com", OrganisationID: "o-1"}
	change := func(edit func(*connectors.Identity)) connectors.Identity {
		i := ann
		edit(&i)
		return i
	}
	for name, tc := range map[string]struct {
		other connectors.Identity
		want  bool
	}{
		"the same":                {ann, false},
		"unknown":                 {connectors.Identity{}, false},
		"a name without subject":  {connectors.Identity{Name: "bob@example.com"}, false},
		"a new name":              {change(func(i *connectors.Identity) { i.Name, i.Email = "ann.new@example.com", "ann.new@example.com" }), false},
		"an unknown organisation": {change(func(i *connectors.Identity) { i.OrganisationID = "" }), false},
		"another subject":         {change(func(i *connectors.Identity) { i.Subject = "8" }), true},
		"another issuer":          {change(func(i *connectors.Identity) { i.Issuer = "https://other.example" }), true},
		"another organisation":    {change(func(i *connectors.Identity) { i.OrganisationID = "o-2" }), true},
	} {
		if ann.IsOther(tc.other) != tc.want || tc.other.IsOther(ann) != tc.want {
			t.Errorf("%s: want %t", name, tc.want)
		}
	}
}

func TestIdentity_Label(t *testing.T) {
	t.Parallel()
	for want, i := range map[string]connectors.Identity{
		"":                          {Organisation: "Example"},
		"7":                         {Subject: "7"},
		"ann@example.com":           {Subject: "7", Name: "ann@example.com"},
		"ann@example.com (Example)": {Subject: "7", Name: "ann@example.com", Organisation: "Example"},
	} {
		if got := i.Label(); got != want {
			t.Errorf("label %q, want %q", got, want)
		}
	}
}
