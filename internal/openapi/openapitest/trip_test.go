package openapitest_test

import (
	"os"
	"testing"

	"patchbay/internal/openapi"
	"patchbay/internal/openapi/openapitest"
)

func TestTrip_EveryOperation(t *testing.T) {
	t.Parallel()
	for file, operations := range map[string]int{
		"testdata/styles-3.1.yaml": 25, "testdata/petstore-2.0.json": 20, "testdata/circular-3.0.json": 3, "testdata/discriminators-3.0.json": 10, "testdata/newer-3.2.yaml": 3, "../testdata/hard.yaml": 7,
	} {
		document, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := openapi.Read(document, openapi.Options{URL: "https://api.example.com/openapi.json"})
		if err != nil {
			t.Fatal(err)
		}
		server, err := openapitest.NewServer(document)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Close)
		if counted := server.CountOperations(); len(d.Operations) != operations || counted != operations {
			t.Errorf("%s has %d operations, and %d are counted, want %d", file, len(d.Operations), counted, operations)
		}
		for _, o := range d.Operations {
			made, err := d.Tool(o)
			if err != nil {
				t.Errorf("%s: %s: %v", file, o.Key(), err)
				continue
			}
			if err := openapitest.CheckTool(made); err != nil {
				t.Errorf("%s: %s: %v", file, o.Key(), err)
			}
			if err := server.Trip(t.Context(), made, o); err != nil {
				t.Errorf("%s: %s: %v", file, o.Key(), err)
			}
		}
	}
}
