package manage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"patchbay/internal/apitools"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
)

// saveDocument replaces the document of a connector, and returns the connector.
func (b *testEnv) saveDocument(t *testing.T, document string) connectors.Ref {
	t.Helper()
	ref := b.newAPI(t)
	c, err := b.Door().Connectors().Get(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Door().APIs().SaveDocument(t.Context(), c.ID, connectors.APIDocument{Body: []byte(document)}); err != nil {
		t.Fatal(err)
	}
	return ref
}

func TestReadAPI_BoundsTheDefinitionsThatItMakes(t *testing.T) {
	t.Parallel()
	const operations, size = 1000, 100_000
	var document strings.Builder
	document.WriteString(`{"openapi":"3.1.0","info":{"title":"Large","version":"1"},"components":{"schemas":{"Large":{"type":"object","properties":{`)
	for i := range size / 500 {
		fmt.Fprintf(&document, `"p%d":{"type":"string","description":"%s"},`, i, strings.Repeat("lorem ", 80))
	}
	document.WriteString(`"last":{"type":"string"}}}}},"paths":{"/first":{}`)
	for i := range operations {
		fmt.Fprintf(&document, `,"/%d":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Large"}}}},"responses":{"200":{"description":""}}}}`, i)
	}
	document.WriteString("}}")
	b := newTestEnv(t)
	ref := b.saveDocument(t, document.String())
	o := b.readAPI(t, ref)
	made := 0
	for _, op := range o.Operations {
		if op.Problem != "" {
			t.Fatalf("%s: %s", op.Key, op.Problem)
		}
		if op.Tokens > 0 {
			made++
		}
	}
	if limit := 32 << 20 / size; len(o.Operations) != operations || made == 0 || made > limit+1 {
		t.Errorf("made %d tools of %d operations", made, len(o.Operations))
	}
	last := o.Operations[operations-1].Key
	if err := b.reg.PickOperations(t.Context(), b.admin, ref, []string{last}, nil); err != nil { // one without a cost can be picked
		t.Error(err)
	}
}

func TestReadAPI_ReadsAnUnreadableDocumentOnce(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	ref := b.saveDocument(t, `{"openapi":"9"}`)
	count := func() int64 {
		before := b.Queries()
		if o := b.readAPI(t, ref); o.Problem == "" {
			t.Error("read a document of an unknown version")
		}
		if _, err := b.reg.Operations(t.Context(), b.Tenant, ref); !fault.Is(err, fault.Invalid) {
			t.Errorf("operations: %v", err)
		}
		return b.Queries() - before
	}
	first := count()
	if again := count(); again >= first {
		t.Errorf("%d queries at first, then %d", first, again)
	}
}

// Each way to a document waits for a turn of its tenant, at most until its context ends.
func TestDocuments_AreReadByTurns(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	ref := b.newAPI(t)
	read := map[string]func(context.Context) error{
		"index":      func(ctx context.Context) error { _, err := b.reg.ReadAPI(ctx, b.Tenant, ref); return err },
		"operations": func(ctx context.Context) error { _, err := b.reg.Operations(ctx, b.Tenant, ref); return err },
		"sign in":    func(ctx context.Context) error { _, err := b.reg.CredentialProposals(ctx, b.Tenant, ref); return err },
		"picks": func(ctx context.Context) error {
			return b.reg.PickOperations(ctx, b.admin, ref, []string{"GET /notes"}, nil)
		},
		"create": func(ctx context.Context) error {
			d := connectors.NewDraft()
			d.Name, d.URL = "Uploaded", "https://two.example.com/v1"
			_, err := b.reg.CreateAPI(ctx, b.admin, d, connectors.Secret{}, manage.APIContent{Document: []byte(notesDocument)}, true)
			return err
		},
		"preview": func(ctx context.Context) error {
			d := connectors.NewDraft()
			d.Name, d.URL = "Uploaded", "https://two.example.com/v1"
			_, err := b.reg.PreviewAPI(ctx, b.admin, d, manage.APIContent{Document: []byte(notesDocument)})
			return err
		},
		"update": func(ctx context.Context) error {
			_, _, err := b.reg.UpdateConnector(ctx, b.admin, ref, manage.Change{Document: []byte(notesDocument)})
			return err
		},
	}
	failed := map[string]error{}
	err := apitools.TakeTurn(t.Context(), b.Tenant, func() error {
		for name, f := range read {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // none can succeed meanwhile, however long it is
			failed[name] = f(ctx)
			cancel()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range read {
		if !errors.Is(failed[name], context.DeadlineExceeded) {
			t.Errorf("%s: took no turn: %v", name, failed[name])
		}
		if err := f(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := b.newAPI(t)
	err = apitools.TakeTurn(t.Context(), b.Other, func() error { // another tenant's turn holds up nothing
		b.readAPI(t, other)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
