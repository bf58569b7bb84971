package store

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// List lists the tenant's connectors in the page's order, by default by name, in at most two queries.
func (t Connectors) List(ctx context.Context, f ConnectorFilter) (list List[connectors.Connector], err error) {
	if f.Order = f.Order.restrictTo(ConnectorOrders); !f.Order.isDefault() && len(f.IDs) == 0 {
		err = t.asTenant().Snapshot(ctx, func(tx *Tenant) error {
			list, err = tx.connectorsOrdered(ctx, f)
			return err
		})
		return list, err
	}
	name, id, err := f.afterNamed("connectors")
	if err != nil {
		return List[connectors.Connector]{}, err
	}
	rows, err := t.q.ConnectorsByName(ctx, dbgen.ConnectorsByNameParams{
		TenantID:  t.id,
		Status:    cleanText(string(f.Status)),
		Pattern:   containsPattern(f.Query),
		Transport: cleanText(string(f.Transport)),
		AuthType:  cleanText(string(f.AuthType)),
		Tag:       cleanText(f.Tag),
		Ids:       connectorUUIDs(f.IDs),
		AfterName: name,
		AfterID:   id,
		MaxRows:   f.rowLimit(),
	})
	if err != nil {
		return List[connectors.Connector]{}, err
	}
	item := func(r dbgen.ConnectorsByNameRow) connectors.Connector { return toConnector(dbgen.ConnectorByRefRow(r)) }
	at := func(r dbgen.ConnectorsByNameRow) []string { return []string{r.Connector.Name, r.Connector.ID.String()} }
	return newList(f.Page, rows, item, "connectors", at), nil
}

// Stats counts the tenant's connectors and their tools.
func (t Connectors) Stats(ctx context.Context) (Stats, error) {
	rows, err := t.q.ConnectorStats(ctx, t.id)
	if err != nil {
		return Stats{}, err
	}
	stats := Stats{ByStatus: map[connectors.ConnectorStatus]int{}}
	for _, r := range rows {
		stats.Connectors += int(r.Connectors)
		stats.Tools += int(r.Tools)
		stats.ByStatus[connectors.ConnectorStatus(r.Status)] = int(r.Connectors)
	}
	stats.NeedAttention = stats.ByStatus[connectors.StatusError] + stats.ByStatus[connectors.StatusNeedsAuth]
	return stats, nil
}

// ConnectorAt is a connector with its URL.
type ConnectorAt struct{ Slug, Name, URL string }

// At finds the connectors of some URLs, by name. Case, query and a trailing slash are ignored.
func (t Connectors) At(ctx context.Context, urls []string) ([]ConnectorAt, error) {
	places := make([]string, 0, len(urls))
	for _, url := range urls {
		place, _, _ := strings.Cut(url, "?")
		places = append(places, cleanText(strings.ToLower(strings.TrimRight(place, "/"))))
	}
	rows, err := t.q.ConnectorsByURL(ctx, t.id, places)
	if err != nil {
		return nil, err
	}
	found := make([]ConnectorAt, 0, len(rows))
	for _, r := range rows {
		found = append(found, ConnectorAt{Slug: r.Slug, Name: r.Name, URL: r.Url})
	}
	return found, nil
}

// Get finds a connector by id or slug.
func (t Connectors) Get(ctx context.Context, ref connectors.Ref) (connectors.Connector, error) {
	id, slug, ok := refParts(ref)
	if !ok {
		return connectors.Connector{}, newNotFound("connector")
	}
	return t.findConnector(ctx, id, slug)
}

func (t *tenant) findConnector(ctx context.Context, id *uuid.UUID, slug *string) (connectors.Connector, error) {
	row, err := t.q.ConnectorByRef(ctx, t.id, id, slug)
	if err != nil {
		return connectors.Connector{}, rowError(err, "connector")
	}
	return toConnector(row), nil
}

// Create stores a checked draft that has a slug. A slug or name in use is a Conflict.
func (t Connectors) Create(ctx context.Context, d connectors.Draft) (connectors.Connector, error) {
	id := newID()
	columns, err := settingsColumns(d.Settings)
	if err != nil {
		return connectors.Connector{}, err
	}
	columns.TenantID, columns.ID, columns.Version = t.id, connectors.ConnectorID{UUID: id}, 1
	var created connectors.Connector
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.q.CreateConnector(ctx, dbgen.CreateConnectorParams(columns)); err != nil {
			return err
		}
		created, err = tx.findConnector(ctx, &id, nil)
		return err
	})
	return created, err
}

// NewStaleVersion is the Conflict of a change that names another version than the stored one.
func NewStaleVersion() error {
	return fault.Errorf(fault.Conflict, "The connector changed meanwhile. Reload it and repeat your change.").WithType("stale-version")
}

// Update stores all settings of a connector. It fails with Conflict if the stored version is not
// version; 0 matches any.
func (t Connectors) Update(ctx context.Context, id connectors.ConnectorID, version int, d connectors.Draft) (connectors.Connector, error) {
	columns, err := settingsColumns(d.Settings)
	if err != nil {
		return connectors.Connector{}, err
	}
	columns.TenantID, columns.ID, columns.Version = t.id, id, int32(version)
	var updated connectors.Connector
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.UpdateConnector(ctx, columns)
		if err != nil {
			return err
		}
		updated, err = tx.findConnector(ctx, &id.UUID, nil)
		if err == nil && n == 0 {
			return NewStaleVersion()
		}
		return err
	})
	if err != nil {
		return connectors.Connector{}, err
	}
	return updated, t.notifyChange(nil, "connector", id)
}

// SetAuthBehaviour stores the authentication that the server asked for. A missing connector is no error.
func (t Connectors) SetAuthBehaviour(ctx context.Context, id connectors.ConnectorID, b connectors.AuthBehaviour) error {
	return t.q.SetAuthBehaviour(ctx, b, t.id, id)
}

// ChangeTags adds and removes tags of connectors. It returns the tags of those that changed.
func (t Connectors) ChangeTags(ctx context.Context, ids []connectors.ConnectorID, added, removed []string) ([]TaggedConnector, error) {
	rows, err := t.q.TagConnectors(ctx, dbgen.TagConnectorsParams{TenantID: t.id, Ids: connectorUUIDs(ids), Added: cleanAll(added), Removed: cleanAll(removed)})
	if err != nil {
		return nil, err
	}
	changed := make([]TaggedConnector, len(rows))
	for i, r := range rows {
		changed[i] = TaggedConnector{ID: r.ID, Slug: r.Slug, Tags: r.Tags}
		if err := t.notifyChange(nil, "connector", r.ID); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// TaggedConnector is a connector with its tags.
type TaggedConnector struct {
	ID   connectors.ConnectorID
	Slug string
	Tags []string
}

// Delete deletes a connector with its credentials, tools and runs.
func (t Connectors) Delete(ctx context.Context, id connectors.ConnectorID) error {
	n, err := t.q.DeleteConnector(ctx, t.id, id)
	return t.notifyChange(affectedError(n, err, "connector"), "connector", id)
}

func toConnector(row dbgen.ConnectorByRefRow) connectors.Connector {
	r := row.Connector
	c := connectors.Connector{
		ID:                r.ID,
		Settings:          toSettings(r),
		Era:               r.Era,
		Version:           int(r.Version),
		Status:            connectors.ConnectorStatus(row.Status),
		AuthBehaviour:     r.AuthBehaviour,
		DiscoveredTools:   row.ToolNames,
		Tags:              r.Tags,
		ToolCount:         int(r.ToolCount),
		ToolsLastSyncedAt: toUTC(r.ToolsLastSyncedAt),
		Server: connectors.Server{
			Name:            r.ServerName,
			Version:         r.ServerVersion,
			Title:           r.ServerTitle,
			ProtocolVersion: r.ServerProtocol,
			Instructions:    r.ServerInstructions,
		},
		CreatedAt: r.CreatedAt.UTC(),
		UpdatedAt: r.UpdatedAt.UTC(),
	}
	if r.AcceptedInstructions != nil {
		c.HeldBack = &connectors.HeldInstructions{Accepted: *r.AcceptedInstructions, Review: r.InstructionsReview}
	}
	c.Capabilities, c.ItemsHash, c.SkillsHash, c.IconHash = r.ServerCapabilities, toHash(r.ItemsHash), toHash(r.SkillsHash), toHash(r.IconHash)
	if len(row.EnvNames) > 0 {
		c.EnvNames = row.EnvNames
	}
	if r.LastErrorCode != nil {
		c.LastError = &connectors.SyncError{Code: *r.LastErrorCode, Message: textOrEmpty(r.LastErrorMessage), At: r.LastErrorAt.UTC()}
	}
	if row.RunningID != uuid.Nil {
		c.Running = &connectors.SyncRunID{UUID: row.RunningID}
	}
	c.Clock = connectors.Clock{
		DueAt: toUTC(row.DueAt), Failures: int(row.Failures), FailingSince: toUTC(row.FailingSince),
		CheckedAt: toUTC(row.CheckedAt), OKAt: toUTC(row.OkAt), Down: row.Down,
	}
	if row.VanishedAt != nil {
		c.Vanished = &connectors.VanishedTools{At: row.VanishedAt.UTC(), Tools: int(*row.VanishedTools), Of: int(*row.VanishedOf)}
	}
	c.Credentials = connectors.CredentialsState{NeedsPerson: row.NeedsCredential}
	if row.LapsesAt.Unix() > 0 {
		c.Credentials.Lapses = toUTC(&row.LapsesAt)
	}
	return c
}
