package registry

import (
	"cmp"
	"context"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcpjson"
	"patchbay/internal/store"
)

// Outcome is what becomes of an entry of an imported document.
type Outcome string

// The outcomes.
const (
	Created   Outcome = "created"
	Updated   Outcome = "updated"
	Unchanged Outcome = "unchanged"
	Refused   Outcome = "refused"
)

// ImportReport tells what became of a document, or what would.
type ImportReport struct {
	Entries []ImportedEntry // in the document's order
	Dry     bool            // nothing is stored
}

// Count is how many entries have an outcome.
func (r ImportReport) Count(o Outcome) int {
	n := 0
	for _, e := range r.Entries {
		if e.Outcome == o {
			n++
		}
	}
	return n
}

// ImportedEntry is one entry of an imported document. Nothing of it is secret.
type ImportedEntry struct {
	Key       string                // as the document calls it
	Line      int                   // where it stands there, from 1
	Address   string                // of the server, without a query; empty: it has none
	Outcome   Outcome               //
	Connector *connectors.Connector // as it is now; nil where it is refused, or would be created
	Problems  []fault.Field         // why it is refused; locations are within the entry
	Changed   []string              // which settings; "credential" where one was set
	Missing   Missing               // what has to be entered or connected before it can be used
	Notices   []string              // what else a person should know

	Listed   bool   // by an MCP registry
	Summary  string // of a listed one: what it says of itself. Remote text: show it escaped
	Document []byte // of a listed one: itself, for an import of it alone
}

// Why is the one sentence that a person needs first: why the entry is refused, else what is missing. Empty: all is well.
func (e ImportedEntry) Why() string {
	if len(e.Problems) > 0 {
		return e.Problems[0].Message
	}
	return e.Missing.Sentence
}

// Import makes connectors of a document of MCP servers, and changes those that are there already: an entry is about the connector
// with its slug, else about the only one with its URL. Each entry is taken or refused by itself, with a transaction and an audit
// event of its own. With dry, the same is tried and nothing stored.
func (r *Registry) Import(ctx context.Context, a auth.Actor, document []byte, dry bool) (ImportReport, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return ImportReport{}, err
	}
	entries, err := mcpjson.Read(document)
	if err != nil {
		return ImportReport{}, err
	}
	known, err := r.all(ctx, a)
	if err != nil {
		return ImportReport{}, err
	}
	im := newImporting(r, a, known, entries)
	if dry {
		im.registry = r.rehearsing()
	}
	report := ImportReport{Dry: dry, Entries: make([]ImportedEntry, 0, len(entries))}
	for _, e := range entries {
		done, err := im.entry(ctx, e)
		if err != nil {
			return report, err
		}
		report.Entries = append(report.Entries, done)
	}
	return report, nil
}

// all are the tenant's connectors.
func (r *Registry) all(ctx context.Context, a auth.Actor) (all []connectors.Connector, err error) {
	err = r.store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		for page := (store.Page{Limit: 200}); ; {
			list, err := tx.Connectors(ctx, store.ConnectorFilter{Page: page})
			if err != nil {
				return err
			}
			all = append(all, list.Items...)
			if page.Cursor = list.Next; page.Cursor == "" {
				return nil
			}
		}
	})
	return all, err
}

// importing is a document on its way in.
type importing struct {
	registry *Registry
	actor    auth.Actor
	known    []connectors.Connector // as they were before
	entries  map[string]bool        // slugs of the document's
	led      map[string][]int       // the known ones, by the place of their URL
	aimed    map[string]int         // how many entries have a URL there
	made     map[string]bool        // names of connectors that this document makes, for a dry run, which stores none
	listed   map[string]bool        // places of the listed servers so far
}

func newImporting(r *Registry, a auth.Actor, known []connectors.Connector, entries []mcpjson.Entry) importing {
	im := importing{
		registry: r, actor: a, known: known,
		entries: map[string]bool{}, led: map[string][]int{}, aimed: map[string]int{}, made: map[string]bool{}, listed: map[string]bool{},
	}
	for i, c := range known {
		at := placeOf(c.URL)
		im.led[at] = append(im.led[at], i)
	}
	for _, e := range entries {
		if !im.entries[e.Slug] { // a second one of the same name is refused
			im.aimed[placeOf(e.URL)]++
		}
		im.entries[e.Slug] = true
	}
	return im
}

func (im *importing) entry(ctx context.Context, e mcpjson.Entry) (ImportedEntry, error) {
	done := ImportedEntry{Key: e.Key, Line: e.Line, Address: e.Address(), Notices: slices.Clone(e.Notices), Problems: e.Problems, Listed: e.Listed, Summary: e.Summary, Document: e.Document}
	if len(done.Problems) == 0 {
		var err error
		switch old := im.find(e); {
		case e.Listed && old != nil:
			done.Outcome, done.Connector = Unchanged, old // what a registry says of it changes nothing here
		case old != nil:
			err = im.update(ctx, e, *old, &done)
		default:
			err = im.create(ctx, e, &done)
		}
		if problems, ok := refusal(err); ok {
			done.Problems = problems
		} else if err != nil {
			return done, err
		}
	}
	if len(done.Problems) > 0 {
		done.Outcome, done.Connector, done.Changed, done.Missing, done.Notices = Refused, nil, nil, Missing{}, nil
	}
	return done, nil
}

// find returns the connector that an entry is about; nil: a new one. Where several lead to its URL none of them is meant. What a
// registry calls a server is nobody's name here: it is known by its URL alone.
func (im *importing) find(e mcpjson.Entry) *connectors.Connector {
	if e.Listed {
		if led := im.led[placeOf(e.URL)]; len(led) > 0 {
			return &im.known[led[0]]
		}
		return nil
	}
	bySlug := func(c connectors.Connector) bool { return c.Slug == e.Slug }
	if i := slices.IndexFunc(im.known, bySlug); i >= 0 {
		return &im.known[i]
	}
	at := placeOf(e.URL)
	if at == "" || im.aimed[at] > 1 { // with several entries for one URL, each is a connector of its own
		return nil
	}
	var found *connectors.Connector
	for _, i := range im.led[at] {
		if im.entries[im.known[i].Slug] { // another entry's, by its name
			continue
		}
		if found != nil {
			return nil
		}
		found = &im.known[i]
	}
	return found
}

// refusal is why an entry is refused; ok is false where the failure is not the entry's.
func refusal(err error) (problems []fault.Field, ok bool) {
	if err == nil {
		return nil, true
	}
	f := fault.As(err)
	switch {
	case f.Kind != fault.Invalid && f.Kind != fault.Conflict:
		return nil, false
	case len(f.Fields) > 0:
		return f.Fields, true
	default:
		return []fault.Field{{Message: cmp.Or(f.Message, "It cannot be stored.")}}, true
	}
}
