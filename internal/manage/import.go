package manage

import (
	"cmp"
	"context"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Outcome is the result of one imported entry.
type Outcome string

// The outcomes.
const (
	Created   Outcome = "created"
	Updated   Outcome = "updated"
	Unchanged Outcome = "unchanged"
	Refused   Outcome = "refused"
)

// ImportReport is the result of an import or a dry run.
type ImportReport struct {
	Entries []ImportedEntry // in the document's order
	Dry     bool            // nothing is stored
}

// Count returns the number of entries with an outcome.
func (r ImportReport) Count(o Outcome) int {
	n := 0
	for _, e := range r.Entries {
		if e.Outcome == o {
			n++
		}
	}
	return n
}

// ImportedEntry is the result of one entry, without secrets.
type ImportedEntry struct {
	Key       string                // its name in the document
	Line      int                   // line in the document, from 1
	Address   string                // server address without a query; may be empty
	Outcome   Outcome               //
	Connector *connectors.Connector // the current one; nil if refused or not created yet
	Problems  []fault.Field         // why it is refused; locations are within the entry
	Changed   []string              // changed settings; "credential" for a new secret
	Missing   Missing               // what must be entered or connected first
	Notices   []string              // other notes for a person

	Listed   bool   // from an MCP registry
	Summary  string // its description by the registry: remote text, to be escaped
	Document []byte // the listed entry, to import it alone
}

// Why returns the most important sentence: the reason of a refusal, else what is missing, else "".
func (e ImportedEntry) Why() string {
	if len(e.Problems) > 0 {
		return e.Problems[0].Message
	}
	return e.Missing.Sentence
}

// ImportOptions are the options of an import.
type ImportOptions struct {
	Dry          bool // rolls everything back
	ConfirmMoves bool // a move to another origin may drop credentials
}

// Import creates or updates connectors from a document of MCP servers. An entry matches the connector with its
// slug, else the only one with its URL; one without a name only by its URL or program. Each entry has its own
// transaction and audit event.
func (r *Registry) Import(ctx context.Context, a auth.Actor, document []byte, o ImportOptions) (ImportReport, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return ImportReport{}, err
	}
	entries, err := clientconfig.Read(document)
	if err != nil {
		return ImportReport{}, err
	}
	if n := countFetched(entries); n > maxImportedURLs {
		return ImportReport{}, fault.Errorf(fault.Invalid, "At most %d HTTP APIs with a document_url per import; this has %d. Split it.", maxImportedURLs, n)
	}
	var known []connectors.Connector
	err = r.store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		known, err = allConnectors(ctx, tx)
		return err
	})
	if err != nil {
		return ImportReport{}, err
	}
	im := newDocumentImport(r, a, known, entries)
	im.confirmMoves = o.ConfirmMoves
	if o.Dry {
		im.registry = r.newDryRun()
	}
	report := ImportReport{Dry: o.Dry, Entries: make([]ImportedEntry, 0, len(entries))}
	for _, e := range entries {
		done, err := im.importEntry(ctx, e)
		if err != nil {
			return report, err
		}
		report.Entries = append(report.Entries, done)
	}
	return report, nil
}

// allConnectors returns all connectors of the tenant.
func allConnectors(ctx context.Context, tx *store.Tenant) (all []connectors.Connector, err error) {
	for page := (store.Page{Limit: 200}); ; {
		list, err := tx.Connectors().List(ctx, store.ConnectorFilter{Page: page})
		if err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
		if page.Cursor = list.Next; page.Cursor == "" {
			return all, nil
		}
	}
}

// documentImport is an import in progress.
type documentImport struct {
	registry        *Registry
	actor           auth.Actor
	known           []connectors.Connector // before the import
	entries         map[string]bool        // slugs in the document
	connectorsByURL map[string][]int       // indexes in known by normalized URL
	entriesByURL    map[string]int         // number of entries by normalized URL
	createdNames    map[string]bool        // names created by this import, for a dry run
	listedURLs      map[string]bool        // URLs of listed servers so far
	confirmMoves    bool
}

func newDocumentImport(r *Registry, a auth.Actor, known []connectors.Connector, entries []clientconfig.Entry) documentImport {
	im := documentImport{
		registry: r, actor: a, known: known,
		entries: map[string]bool{}, connectorsByURL: map[string][]int{}, entriesByURL: map[string]int{}, createdNames: map[string]bool{}, listedURLs: map[string]bool{},
	}
	for i, c := range known {
		key := normalizeURL(c.URL)
		im.connectorsByURL[key] = append(im.connectorsByURL[key], i)
	}
	for _, e := range entries {
		if !im.entries[e.Slug] { // a duplicate is refused
			im.entriesByURL[normalizeURL(e.URL)]++
		}
		im.entries[e.Slug] = true
	}
	return im
}

func (im *documentImport) importEntry(ctx context.Context, e clientconfig.Entry) (ImportedEntry, error) {
	done := ImportedEntry{Key: e.Key, Line: e.Line, Address: e.Address(), Notices: slices.Clone(e.Notices), Problems: e.Problems, Listed: e.Listed, Summary: e.Summary, Document: e.Document}
	if len(done.Problems) == 0 {
		var err error
		switch old := im.findConnector(e); {
		case e.Listed && old != nil:
			done.Outcome, done.Connector = Unchanged, old // a registry entry never updates a connector
		case old != nil:
			err = im.updateFromEntry(ctx, e, *old, &done)
		default:
			err = im.createFromEntry(ctx, e, &done)
		}
		if problems, ok := entryProblems(err); ok {
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

// findConnector returns the connector of an entry; nil: a new one. A URL with several connectors matches none.
// A listed entry matches by URL only, because its name is the registry's.
func (im *documentImport) findConnector(e clientconfig.Entry) *connectors.Connector {
	if e.Listed {
		if led := im.connectorsByURL[normalizeURL(e.URL)]; len(led) > 0 {
			return &im.known[led[0]]
		}
		return nil
	}
	isNamed := func(c connectors.Connector) bool { return c.Slug == e.Slug }
	if e.Unnamed {
		isNamed = im.sameServer(e)
	}
	if i := slices.IndexFunc(im.known, isNamed); i >= 0 {
		return &im.known[i]
	}
	key := normalizeURL(e.URL)
	if key == "" || im.entriesByURL[key] > 1 { // several entries with one URL are separate connectors
		return nil
	}
	var found *connectors.Connector
	for _, i := range im.connectorsByURL[key] {
		if im.entries[im.known[i].Slug] { // it belongs to another entry by its slug
			continue
		}
		if found != nil {
			return nil
		}
		found = &im.known[i]
	}
	return found
}

// sameServer matches the connectors of an unnamed entry: those with its generated slug and URL, or with its program.
func (im *documentImport) sameServer(e clientconfig.Entry) func(connectors.Connector) bool {
	d := e.Draft().Normalized()
	im.resolveProgram(&d, &ImportedEntry{})
	return func(c connectors.Connector) bool {
		if d.Transport == connectors.TransportStdio {
			return c.Transport == connectors.TransportStdio && c.Command.Equal(d.Command)
		}
		return c.Slug == e.Slug && normalizeURL(c.URL) == normalizeURL(d.URL)
	}
}

// entryProblems returns the reasons of a refused entry; ok is false for other errors.
func entryProblems(err error) (problems []fault.Field, ok bool) {
	if err == nil {
		return nil, true
	}
	f := fault.As(err)
	switch {
	case !slices.Contains([]fault.Kind{fault.Invalid, fault.Conflict, fault.TooLarge, fault.Upstream}, f.Kind): // a document may be each of them
		return nil, false
	case len(f.Fields) > 0:
		return f.Fields, true
	default:
		return []fault.Field{{Message: cmp.Or(f.Message, "It can't be saved.")}}, true
	}
}
