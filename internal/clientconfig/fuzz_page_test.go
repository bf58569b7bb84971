package clientconfig_test

import (
	"encoding/json"
	"testing"

	"patchbay/internal/clientconfig"
)

// FuzzReadPage puts the servers of a page into a document, which must be read again with one entry each.
func FuzzReadPage(f *testing.F) {
	f.Add([]byte(`{"servers":[{"server":{"name":"com.example/weather","remotes":[{"type":"streamable-http","url":"https://{host}/mcp","variables":{"host":{"default":"x.example"}},
		"headers":[{"name":"Authorization","value":"Bearer {token}","isSecret":true,"isRequired":true}]}]},
		"_meta":{"io.modelcontextprotocol.registry/official":{"status":"active","isLatest":true}}}],"metadata":{"nextCursor":"n"}}`))
	f.Add([]byte(`{"servers":[{"name":"a","remotes":[]},7,null,{"server":{"name":{}}}]}`))
	f.Fuzz(func(t *testing.T, page []byte) {
		servers, _, err := clientconfig.ReadPage(page)
		if err != nil || len(servers) == 0 || len(servers) > clientconfig.MaxEntries {
			return
		}
		document, err := json.Marshal(map[string]any{"servers": servers})
		if err != nil {
			t.Fatal(err)
		}
		if len(document) > clientconfig.MaxBytes {
			return
		}
		if entries, err := clientconfig.Read(document); err != nil || len(entries) != len(servers) {
			t.Errorf("%d entries of %d servers: %v", len(entries), len(servers), err)
		}
	})
}
