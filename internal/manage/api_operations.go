package manage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/openapi/httpcall"
	"patchbay/internal/store"
)

// PickOperations makes operations of the document tools, and ends others. Agents get them with the next sync.
func (r *Registry) PickOperations(ctx context.Context, a auth.Actor, ref connectors.Ref, add, remove []string) error {
	return r.ChangeOperations(ctx, a, ref, add, remove, nil)
}

// OperationChange changes how a picked operation is called and described. A nil field keeps its value.
type OperationChange struct {
	Key         string
	Filter      *string         // jq; empty: none
	MaxPages    *int            // that are followed, up to [connectors.MaxAPIPages]; 0: one
	Annotations map[string]bool // in place of those that follow from the method, by [connectors.APIAnnotations]; empty: none
}

// ChangeOperations is [Registry.PickOperations] with changes of operations that are picked, or picked by this. Agents get
// them with the next sync.
func (r *Registry) ChangeOperations(ctx context.Context, a auth.Actor, ref connectors.Ref, add, remove []string, changes []OperationChange) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return r.changeAPI(ctx, a, ref, func(api storedAPI) (apiChange, error) {
		change, err := api.planPicks(a, add, remove, changes)
		change.seen = api.addSeen(add, remove)
		api.recordSeen(a, &change)
		return change, err
	})
}

// addSeen returns the operations that a person has seen, with those that are picked or passed over now; nil: as before.
func (api storedAPI) addSeen(decided ...[]string) []string {
	if api.document == nil || len(api.document.Seen) == 0 {
		return nil
	}
	seen := slices.Clone(api.document.Seen)
	for _, key := range slices.Concat(decided...) {
		if !slices.Contains(seen, key) && api.findOperation(key) != nil {
			seen = append(seen, key)
		}
	}
	if len(seen) == len(api.document.Seen) {
		return nil
	}
	return seen
}

// recordSeen adds the new operations that a change passes over to its audit event.
func (api storedAPI) recordSeen(a auth.Actor, change *apiChange) {
	if api.document == nil || len(api.document.Seen) == 0 { // a document of which no operation is new yet
		return
	}
	picked := operationsState(change.applyTo(api.tools))["operations"].([]string)
	passedOver := slices.DeleteFunc(slices.Clone(change.seen), func(key string) bool {
		return slices.Contains(api.document.Seen, key) || slices.Contains(picked, key)
	})
	if len(passedOver) == 0 {
		return
	}
	if change.event.Action == "" {
		change.event = a.Event("connector.update", api.connector.Slug)
		change.event.Detail = map[string]any{"connector_id": api.connector.ID.String()}
		change.event.Before, change.event.After = store.State{}, store.State{}
	}
	change.event.Before["passed_over"], change.event.After["passed_over"] = []string{}, shortenKeys(passedOver)
}

// planPicks is [storedAPI.planOperations] with scopes and the audit event.
func (api storedAPI) planPicks(a auth.Actor, add, remove []string, changes []OperationChange) (apiChange, error) {
	change, err := api.planOperations(add, remove, changes)
	if err != nil || change.isEmpty() {
		return change, err
	}
	setScopes(api.parsed, change.save)
	change.event = a.Event("connector.update", api.connector.Slug)
	change.event.Detail = map[string]any{"connector_id": api.connector.ID.String()}
	change.event.Before, change.event.After = operationsState(api.tools), operationsState(change.applyTo(api.tools))
	recordDifference(change.event.Before, change.event.After)
	return change, nil
}

// apiChange is a change of what of an API is a tool.
type apiChange struct {
	save   []connectors.APITool
	remove []string
	event  store.Event // of what is saved and removed

	seen []string // operations that a person has seen; nil: as before
}

func (change apiChange) isEmpty() bool { return len(change.save)+len(change.remove) == 0 }

// applyTo returns the tools after the change, by key.
func (change apiChange) applyTo(tools []connectors.APITool) []connectors.APITool {
	after := map[string]connectors.APITool{}
	for _, t := range slices.Concat(tools, change.save) {
		after[t.Key] = t
	}
	for _, key := range change.remove {
		delete(after, key)
	}
	out := make([]connectors.APITool, 0, len(after))
	for _, key := range slices.Sorted(maps.Keys(after)) {
		out = append(out, after[key])
	}
	return out
}

// errAPIChanged ends a transaction on an API that changed since it was read.
var errAPIChanged = fault.Errorf(fault.Conflict, "The API's document or tools were changed meanwhile. Try again.")

// changeAPI stores what plan returns. An API that changes meanwhile is read and planned anew.
func (r *Registry) changeAPI(ctx context.Context, a auth.Actor, ref connectors.Ref, plan func(storedAPI) (apiChange, error)) error {
	for try := 1; ; try++ {
		var api storedAPI
		var change apiChange
		err := r.useAPI(ctx, a.Tenant.ID, ref, func(found storedAPI) (err error) {
			api = found
			change, err = plan(api)
			return err
		})
		if err != nil || change.isEmpty() && len(change.seen) == 0 {
			return err
		}
		if err := checkToolCount(len(change.applyTo(api.tools))); err != nil {
			return err
		}
		err = r.tx(ctx, a, func(tx *store.Tenant) error { return storeAPIChange(ctx, tx, api, change) })
		if try == 3 || !errors.Is(err, errAPIChanged) {
			return err
		}
	}
}

func storeAPIChange(ctx context.Context, tx *store.Tenant, api storedAPI, change apiChange) error {
	id := api.connector.ID
	if _, err := tx.LockAndReadState(ctx, store.ConnectorState(id)); err != nil {
		return err
	}
	switch current, err := api.isCurrent(ctx, tx); {
	case err != nil:
		return err
	case !current:
		return errAPIChanged
	}
	if len(change.seen) > 0 {
		if err := tx.APIs().SetSeen(ctx, id, change.seen); err != nil || change.event.Action == "" {
			return err
		}
	}
	if err := tx.APIs().SaveTools(ctx, id, change.save); err != nil {
		return err
	}
	if _, err := tx.APIs().RemoveTools(ctx, id, change.remove); err != nil {
		return err
	}
	return tx.Audit().Record(ctx, change.event)
}

// planOperations returns the change of picked operations. A picked one that is picked again keeps its settings.
func (api storedAPI) planOperations(add, remove []string, changes []OperationChange) (change apiChange, err error) {
	picked := map[string]connectors.APITool{}
	for _, t := range api.tools {
		if t.Endpoint == nil {
			picked[t.Key] = t
		}
	}
	changed := map[string]bool{}
	for _, key := range add {
		switch _, isPicked := picked[key]; {
		case slices.Contains(remove, key):
			return change, fault.Errorf(fault.Invalid, "%q is both added and removed.", key)
		case isPicked:
			continue
		}
		if err := api.checkOperation(key); err != nil {
			return change, err
		}
		tool := connectors.APITool{Key: key, Name: api.findOperation(key).Name}
		for other, t := range picked { // an operation that the document no longer has leaves its name
			if t.Name == tool.Name {
				t.Name = ""
				picked[other], changed[other] = t, true
			}
		}
		picked[key], changed[key] = tool, true
	}
	for _, key := range remove {
		if _, isPicked := picked[key]; isPicked {
			change.remove = append(change.remove, key)
		}
	}
	for _, c := range changes {
		tool, isPicked := picked[c.Key]
		if !isPicked || slices.Contains(remove, c.Key) {
			return change, fault.Errorf(fault.Invalid, "The operation %q isn't picked.", c.Key)
		}
		next, err := api.changeOperation(tool, c)
		if err != nil {
			return change, err
		}
		picked[c.Key], changed[c.Key] = next, changed[c.Key] || !isSameTool(tool, next)
	}
	for _, key := range slices.Sorted(maps.Keys(changed)) {
		if changed[key] {
			change.save = append(change.save, picked[key])
		}
	}
	return change, nil
}

// checkOperation refuses an operation that cannot be picked.
func (api storedAPI) checkOperation(key string) error {
	if api.parsed == nil {
		return fault.Errorf(fault.Invalid, "There's no document to pick operations from.")
	}
	o := api.findOperation(key)
	if o == nil {
		return fault.Errorf(fault.Invalid, "The document has no operation %q.", key)
	}
	if _, err := api.parsed.Tool(o); err != nil {
		return fault.Errorf(fault.Invalid, "The operation %q can't be a tool. %s", key, fault.As(err).Message)
	}
	if slices.ContainsFunc(api.tools, func(t connectors.APITool) bool { return t.Endpoint != nil && t.Key == o.Name }) {
		return fault.Errorf(fault.Conflict, "An endpoint %s already exists.", o.Name)
	}
	return nil
}

func (api storedAPI) changeOperation(tool connectors.APITool, c OperationChange) (connectors.APITool, error) {
	if c.Filter != nil {
		if tool.Filter = *c.Filter; tool.Filter != "" {
			if _, err := httpcall.CompileFilter(tool.Filter); err != nil {
				return tool, err
			}
		}
	}
	if c.MaxPages != nil {
		if tool.MaxPages = *c.MaxPages; tool.MaxPages < 0 || tool.MaxPages > connectors.MaxAPIPages {
			return tool, fault.Errorf(fault.Invalid, "Follow at most %d pages.", connectors.MaxAPIPages)
		}
		if tool.MaxPages > 1 && !api.hasPages(c.Key) {
			return tool, fault.Errorf(fault.Invalid, "The document doesn't say how the response of %q is paginated.", c.Key)
		}
	}
	if c.Annotations != nil {
		if err := checkAnnotations(c.Annotations); err != nil {
			return tool, err
		}
		if tool.Annotations = maps.Clone(c.Annotations); len(tool.Annotations) == 0 {
			tool.Annotations = nil
		}
	}
	return tool, nil
}

func checkAnnotations(annotations map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		if !slices.Contains(connectors.APIAnnotations, name) {
			return fault.Errorf(fault.Invalid, "%q isn't a tool annotation.", name)
		}
	}
	return nil
}

// hasPages reports whether further pages of an operation's answer can be followed.
func (api storedAPI) hasPages(key string) bool {
	o := api.findOperation(key)
	if o == nil {
		return false
	}
	tool, err := api.parsed.Tool(o)
	return err == nil && api.parsed.ProposePages(o, tool.Binding) != nil
}

func isSameTool(a, b connectors.APITool) bool {
	return a.Key == b.Key && string(a.Endpoint) == string(b.Endpoint) && a.Name == b.Name && a.Filter == b.Filter && a.MaxPages == b.MaxPages && maps.Equal(a.Annotations, b.Annotations)
}

// maxRecordedKeys bounds the keys of a list in an audit event.
const maxRecordedKeys = 100

// shortenKeys returns keys for an audit event, with the number of those that are left out.
func shortenKeys(keys []string) []string {
	short := make([]string, 0, min(len(keys), maxRecordedKeys+1))
	for _, key := range keys[:min(len(keys), maxRecordedKeys)] {
		short = append(short, shortenText(key))
	}
	if more := len(keys) - maxRecordedKeys; more > 0 {
		short = append(short, fmt.Sprintf("… and %d more", more))
	}
	return short
}

// recordDifference leaves out settings that stay. Of long lists of operations it leaves what is removed and what is added.
func recordDifference(before, after store.State) {
	was, is := before["operations"].([]string), after["operations"].([]string)
	if max(len(was), len(is)) > maxRecordedKeys {
		before["operations"] = shortenKeys(slices.DeleteFunc(slices.Clone(was), func(key string) bool { return slices.Contains(is, key) }))
		after["operations"] = shortenKeys(slices.DeleteFunc(slices.Clone(is), func(key string) bool { return slices.Contains(was, key) }))
	}
	for name, value := range before {
		if other, ok := after[name]; ok && name != "operations" && reflect.DeepEqual(value, other) {
			delete(before, name)
			delete(after, name)
		}
	}
}

// operationsState is the picked operations with their settings, for the audit log.
func operationsState(tools []connectors.APITool) store.State {
	keys, state := []string{}, store.State{}
	for _, t := range tools {
		if t.Endpoint != nil {
			continue
		}
		keys = append(keys, t.Key)
		if t.Filter != "" {
			state[t.Key+" filter"] = t.Filter
		}
		if t.MaxPages > 0 {
			state[t.Key+" max_pages"] = t.MaxPages
		}
		if t.Annotations != nil {
			state[t.Key+" annotations"] = t.Annotations
		}
	}
	state["operations"] = keys
	return state
}
