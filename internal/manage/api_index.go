package manage

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"

	"patchbay/internal/agentview"
	"patchbay/internal/apitools"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/internal/openapi"
	"patchbay/internal/store"
)

// APIOverview is an HTTP API with all that can be its tools.
type APIOverview struct {
	Connector  connectors.Connector
	Document   *connectors.APIDocument // nil: it has none
	About      APIDocumentFacts
	Operations []OperationSummary // in the order of the document
	Tools      []connectors.APITool
	Problem    string // why the document cannot be read; empty: it can
}

// APIDocumentFacts say what a document is about.
type APIDocumentFacts struct {
	Spec, Title, Version string
	Servers              []string
	LeftOut              []openapi.Problem
}

// OperationSummary is an operation with the cost of its tool.
type OperationSummary struct {
	Key, Name, Title, Description string
	Method, Path                  string
	Tags                          []string
	Deprecated                    bool
	Tokens                        int    // estimated size of the tool's definition for a model; 0: unknown
	HasPages                      bool   // the document shows how to page
	Problem                       string // why it cannot be a tool
	IsNew                         bool   // the document did not have it when a person picked last
	IsPicked                      bool
}

// ReadAPI returns a connector with the operations of its HTTP API. One to an MCP server has none.
func (r *Registry) ReadAPI(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref) (APIOverview, error) {
	o, err := r.readOverview(ctx, tenant, ref)
	if err != nil && o.Document != nil {
		f := fault.As(err)
		if o.Problem = f.Message; isDocumentFault(err) {
			return o, nil
		}
	}
	return o, err
}

// isDocumentFault reports whether a document itself is at fault.
func isDocumentFault(err error) bool {
	return fault.Is(err, fault.Invalid) || fault.Is(err, fault.TooLarge)
}

// Operations is [Registry.ReadAPI] of an HTTP API with a document that can be read. Without a document there are no operations.
func (r *Registry) Operations(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref) (APIOverview, error) {
	o, err := r.readOverview(ctx, tenant, ref)
	if err == nil {
		err = checkIsAPI(o.Connector)
	}
	return o, err
}

func (r *Registry) readOverview(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref) (o APIOverview, err error) {
	err = r.store.Tenant(tenant).Snapshot(ctx, func(tx *store.Tenant) error {
		if o.Connector, err = tx.Connectors().Get(ctx, ref); err != nil {
			return err
		}
		if o.Connector.Transport != connectors.TransportAPI {
			return nil
		}
		if o.Tools, err = tx.APIs().Tools(ctx, o.Connector.ID); err != nil {
			return err
		}
		info, err := tx.APIs().DocumentInfo(ctx, o.Connector.ID)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		o.Document = &info
		return nil
	})
	if err != nil || o.Document == nil {
		return o, err
	}
	index, err := r.index.findIndex(ctx, indexKey{tenant, o.Document.Hash, apitools.NewAddresses(o.Connector.Settings)}, func() ([]byte, error) {
		document, err := r.store.Tenant(tenant).APIs().Document(ctx, o.Connector.ID)
		return document.Body, err
	})
	if err != nil {
		return o, err
	}
	o.About, o.Operations = index.about, slices.Clone(index.operations)
	o.markOperations(index.name)
	return o, nil
}

// markOperations sets what a connector's own rows say of its operations. rename names them all where a tool has another name than
// the document gives it.
func (o *APIOverview) markOperations(rename func(given map[string]string) []string) {
	picked, seen := map[string]bool{}, map[string]bool{}
	for _, t := range o.Tools {
		picked[t.Key] = picked[t.Key] || t.Endpoint == nil
	}
	for _, key := range o.Document.Seen {
		seen[key] = true
	}
	given := apitools.Names(o.Tools)
	if slices.ContainsFunc(o.Operations, func(op OperationSummary) bool { return given[op.Key] != "" && given[op.Key] != op.Name }) {
		for i, name := range rename(given) {
			o.Operations[i].Name = name
		}
	}
	for i := range o.Operations {
		op := &o.Operations[i]
		op.IsPicked, op.IsNew = picked[op.Key], len(seen) > 0 && !seen[op.Key]
	}
}

// indexKey is the content of an index: a document with its addresses.
type indexKey struct {
	tenant connectors.TenantID
	hash   [32]byte
	at     apitools.Addresses
}

type documentIndex struct {
	about      APIDocumentFacts
	operations []OperationSummary
	name       func(given map[string]string) []string // of [openapi.Document.Namer]
	problem    error                                  // of a document that cannot be read
}

// maxIndexes bounds the indexes that are kept. The index of 1,000 operations is 1 MiB.
const maxIndexes = 32

// maxIndexBytes bounds the definitions that are made for one index. Operations beyond it have no cost.
const maxIndexBytes = 32 << 20

// documentIndexes keeps the newest indexes.
type documentIndexes struct {
	mu    sync.Mutex // guards what follows
	byKey map[indexKey]*documentIndex
	order []indexKey // least recently used first
}

func (x *documentIndexes) findIndex(ctx context.Context, key indexKey, body func() ([]byte, error)) (index *documentIndex, err error) {
	if index := x.getIndex(key); index != nil {
		return index, index.problem
	}
	err = apitools.TakeTurn(ctx, key.tenant, func() error {
		if index = x.getIndex(key); index != nil {
			return index.problem
		}
		document, err := body()
		if err != nil {
			return err
		}
		index, err = readIndex(ctx, document, key.at)
		if err != nil && !isDocumentFault(err) {
			return err
		}
		key.hash = sha256.Sum256(document) // it may have changed since its hash was read
		x.putIndex(key, index)
		return err
	})
	return index, err
}

func (x *documentIndexes) getIndex(key indexKey) *documentIndex {
	x.mu.Lock()
	defer x.mu.Unlock()
	index := x.byKey[key]
	if index != nil {
		x.order = append(slices.DeleteFunc(x.order, func(k indexKey) bool { return k == key }), key)
	}
	return index
}

func (x *documentIndexes) putIndex(key indexKey, index *documentIndex) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byKey == nil {
		x.byKey = map[indexKey]*documentIndex{}
	}
	if len(x.order) == maxIndexes {
		delete(x.byKey, x.order[0])
		x.order = x.order[1:]
	}
	x.byKey[key], x.order = index, append(x.order, key)
}

// readIndex makes the index of a document. A document that cannot be read has one with a problem, which is the error.
func readIndex(ctx context.Context, document []byte, at apitools.Addresses) (*documentIndex, error) {
	d, err := apitools.Read(document, at, nil)
	if err != nil {
		return &documentIndex{problem: err}, err
	}
	index := &documentIndex{about: documentFacts(d), name: d.Namer()}
	remaining := maxIndexBytes
	for _, o := range d.Operations {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s := OperationSummary{
			Key: o.Key(), Name: o.Name, Title: strings.Clone(o.Title), Description: strings.Clone(o.Description),
			Method: strings.Clone(o.Method), Path: strings.Clone(o.Path), Tags: cloneTexts(o.Tags), Deprecated: o.Deprecated,
		}
		if remaining > 0 {
			if tool, err := d.Tool(o); err != nil {
				s.Problem = fault.As(err).Message
			} else {
				remaining -= len(tool.Definition)
				s.Tokens, s.HasPages = MeasureAPITool(*tool), d.ProposePages(o, tool.Binding) != nil
			}
		}
		index.operations = append(index.operations, s)
	}
	return index, nil
}

func documentFacts(d *openapi.Document) APIDocumentFacts {
	about := APIDocumentFacts{Spec: strings.Clone(d.Spec), Title: strings.Clone(d.Title), Version: strings.Clone(d.Version)}
	for _, p := range d.Problems {
		about.LeftOut = append(about.LeftOut, openapi.Problem{Where: strings.Clone(p.Where), Sentence: strings.Clone(p.Sentence)})
	}
	for _, s := range d.Servers {
		about.Servers = append(about.Servers, strings.Clone(s.URL))
	}
	return about
}

// cloneTexts copies texts that are parts of a document, which would stay in memory with them.
func cloneTexts(texts []string) []string {
	cloned := make([]string, len(texts))
	for i, text := range texts {
		cloned[i] = strings.Clone(text)
	}
	return cloned
}

// MeasureAPITool estimates the size of a tool's definition for a model, in tokens.
func MeasureAPITool(t openapi.Tool) int {
	return agentview.MeasureTool(t.Name, t.Definition, toolfmt.MCP).Tokens
}

// operationKeys returns the keys of all operations.
func (o APIOverview) operationKeys() []string {
	keys := make([]string, len(o.Operations))
	for i, op := range o.Operations {
		keys[i] = op.Key
	}
	return keys
}

// SavePicks makes exactly these operations of the document tools, beside the endpoints. It reports whether anything
// changed. All operations that the document has count as seen.
func (r *Registry) SavePicks(ctx context.Context, a auth.Actor, o APIOverview, picked map[string]bool) (changed bool, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return false, err
	}
	if o.Connector.Transport != connectors.TransportAPI {
		return false, fault.Errorf(fault.Invalid, "%s is an MCP server. It lists its own tools.", o.Connector.Name)
	}
	var add, remove []string
	for _, op := range o.Operations {
		switch {
		case picked[op.Key] && !op.IsPicked:
			add = append(add, op.Key)
		case !picked[op.Key] && op.IsPicked:
			remove = append(remove, op.Key)
		}
	}
	seen := o.operationKeys()
	if len(add)+len(remove) == 0 && (len(seen) == 0 || slices.Equal(seen, o.Document.Seen)) {
		return false, nil
	}
	err = r.changeAPI(ctx, a, connectors.Ref(o.Connector.ID.String()), func(api storedAPI) (apiChange, error) {
		change, err := api.planPicks(a, add, remove, nil)
		changed = !change.isEmpty()
		change.seen = seen
		api.recordSeen(a, &change)
		return change, err
	})
	return changed, err
}
