package clientconfig_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
)

// TestRead_FilesOfClients compares what an import makes of each file with what stands after it. UPDATE=1 writes that.
func TestRead_FilesOfClients(t *testing.T) {
	t.Parallel()
	const path = "testdata/clients.txtar"
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(archive.Files) < 80 {
		t.Fatalf("there are %d files, and each has what is wanted", len(archive.Files))
	}
	for i := 0; i < len(archive.Files); i += 2 {
		file, want := archive.Files[i], archive.Files[i+1]
		if want.Name != file.Name+".want" {
			t.Fatalf("%s is followed by %s", file.Name, want.Name)
		}
		got := describeDocument(file.Data)
		if os.Getenv("UPDATE") != "" {
			archive.Files[i+1].Data = []byte(got)
			continue
		}
		if diff := cmp.Diff(string(want.Data), got); diff != "" {
			t.Errorf("%s: %s", file.Name, diff)
		}
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// describeDocument lists the entries of a document, one after the other, with their notices and problems.
func describeDocument(document []byte) string {
	var out strings.Builder
	entries, err := clientconfig.Read(document)
	if err != nil {
		fmt.Fprintf(&out, "error: %v\n", err)
	}
	for _, e := range entries {
		d := e.Draft().Normalized()
		fmt.Fprintf(&out, "%d %s (%s): %s\n", e.Line, e.Key, e.Slug, describeDraft(e, d))
		for _, notice := range e.Notices {
			fmt.Fprintf(&out, "  notice: %s\n", notice)
		}
		for _, problem := range e.Problems {
			fmt.Fprintf(&out, "  problem: %s: %s\n", problem.Location, problem.Message)
		}
	}
	return out.String()
}

func describeDraft(e clientconfig.Entry, d connectors.Draft) string {
	parts := []string{string(d.Transport)}
	if d.Transport == connectors.TransportStdio {
		parts = append(parts, fmt.Sprintf("%q", append([]string{d.Command.Path}, d.Command.Args...)))
		if d.Command.Dir != "" {
			parts = append(parts, "in "+d.Command.Dir)
		}
	} else {
		parts = append(parts, d.URL)
	}
	var extra []string
	for name := range d.Env {
		extra = append(extra, "env "+name)
	}
	for name, value := range d.Headers {
		extra = append(extra, "header "+name+"="+value)
	}
	slices.Sort(extra)
	parts = append(parts, extra...)
	if d.Auth.Type != connectors.AuthNone {
		parts = append(parts, strings.TrimSpace("auth "+string(d.Auth.Type)+" "+d.Auth.Header))
	}
	if d.OAuth.ClientID != "" {
		parts = append(parts, "client "+d.OAuth.ClientID)
	}
	if !e.Secret.Empty() {
		parts = append(parts, "with its secret")
	}
	if e.Placeholder != "" {
		parts = append(parts, "missing "+e.Placeholder)
	}
	if d.Timeout != connectors.NewDraft().Timeout {
		parts = append(parts, "timeout "+d.Timeout.String())
	}
	if !d.Enabled {
		parts = append(parts, "disabled")
	}
	return strings.Join(parts, " ")
}

// The parser of TOML is recursive: deep documents must not reach it.
func TestRead_DeepTOMLIsRefused(t *testing.T) {
	t.Parallel()
	const table = "[mcp_servers.a]\n"
	for name, document := range map[string]string{
		"arrays":    table + "x = " + strings.Repeat("[", 500_000),
		"tables":    table + "x = " + strings.Repeat("{a=", 200_000),
		"a key":     table + strings.Repeat("a.", 400_000) + "a = 1",
		"a table":   table + "[" + strings.Repeat("a . ", 200_000) + "a]",
		"infinity":  table + "x = inf",
		"a broken":  table + `x = "`,
		"no server": "mcp_servers = 7",
	} {
		if entries, err := clientconfig.Read([]byte(document)); err == nil {
			t.Errorf("%s: %v", name, entries)
		}
	}
}
