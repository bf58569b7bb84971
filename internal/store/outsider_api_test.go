package store_test

import (
	"context"
	"crypto/sha256"
	"testing"

	"patchbay/internal/connectors"
)

var apiAttempts = map[string]attempt{
	"APIs.Document": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.APIs().Document(ctx, o.connector.ID))
	},
	"APIs.DocumentInfo": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.APIs().DocumentInfo(ctx, o.connector.ID))
	},
	"APIs.Scopes": func(ctx context.Context, o outsider) (bool, error) {
		scopes, err := o.door.APIs().Scopes(ctx, o.connector.ID)
		return len(scopes) > 0, err
	},
	"APIs.SetSeen": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.APIs().SetSeen(ctx, o.connector.ID, []string{"GET /mine"})
	},
	"APIs.SaveDocument": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.APIs().SaveDocument(ctx, o.connector.ID, connectors.APIDocument{Body: []byte("{}")})
	},
	"APIs.RefreshDocument": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.APIs().RefreshDocument(ctx, o.connector.ID, sha256.Sum256([]byte("{}")), connectors.APIDocument{Body: []byte("[]")})
	},
	"APIs.Tools": func(ctx context.Context, o outsider) (bool, error) {
		tools, err := o.door.APIs().Tools(ctx, o.connector.ID)
		return len(tools) > 0, err
	},
	"APIs.SaveTools": func(ctx context.Context, o outsider) (bool, error) {
		return true, o.door.APIs().SaveTools(ctx, o.connector.ID, []connectors.APITool{{Key: "GET /mine"}})
	},
	"APIs.NameTools": func(ctx context.Context, o outsider) (bool, error) {
		return false, o.door.APIs().NameTools(ctx, o.connector.ID, map[string]string{"GET /pets": "stolen"})
	},
	"APIs.RemoveTools": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.APIs().RemoveTools(ctx, o.connector.ID, []string{"GET /pets"})
		return n > 0, err
	},
}

var ownAPIs = map[string]bool{"APIs.Tools": true, "APIs.Scopes": true, "APIs.NameTools": true, "APIs.RemoveTools": true}

// fillAPI gives the connector what an HTTP API has.
func (o outsider) fillAPI(t *testing.T) {
	t.Helper()
	apis := o.Door().APIs()
	for _, err := range []error{
		apis.SaveDocument(t.Context(), o.connector.ID, connectors.APIDocument{Body: []byte("{}")}),
		apis.SaveTools(t.Context(), o.connector.ID, []connectors.APITool{{Key: "GET /pets", Scopes: []string{"read"}}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}
