package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// exportAttempts are the outsider's at the export of the audit log.
var exportAttempts = map[string]attempt{
	"Audit.Export": func(ctx context.Context, o outsider) (bool, error) {
		var b bytes.Buffer
		_, err := o.door.Audit().Export(ctx, &b, 1000)
		return bytes.Count(b.Bytes(), []byte("\n")) != auditEvents(ctx, o), err
	},
	"Audit.Cut": func(ctx context.Context, o outsider) (bool, error) {
		cut, err := o.door.Audit().Cut(ctx, time.Now().Add(time.Hour), store.Event{ActorType: "system"})
		return cut > int64(auditEvents(ctx, o)), err
	},
	"Audit.End": func(ctx context.Context, o outsider) (bool, error) {
		end, err := o.door.Audit().End(ctx)
		return end != int64(auditEvents(ctx, o)), err
	},
	"Audit.Signer": func(_ context.Context, o outsider) (bool, error) {
		own, err := o.door.Audit().Signer()
		if err != nil {
			return false, err
		}
		theirs, err := o.Door().Audit().Signer()
		return own.PublicKey() == theirs.PublicKey(), err
	},
}

// exported is a tenant's audit log with some entries, its signature and its key.
func exported(t *testing.T, w *fixture.World) (file []byte, signature, key string) {
	t.Helper()
	e := store.Event{ActorType: "system", ActorName: "Zoë \U0001F511", Action: "test.one", Detail: map[string]any{"b": []any{1, 2.5, nil}, "a": "ü\n<&>\u2028"}}
	if err := store.RecordAnything(t.Context(), w.Door(), e); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		recordEvent(t, w, "anna", fmt.Sprintf("test.%d", i), "x")
	}
	return exportOf(t, w)
}

func exportOf(t *testing.T, w *fixture.World) (file []byte, signature, key string) {
	t.Helper()
	end, err := w.Door().Audit().End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if signature, err = w.Door().Audit().Export(t.Context(), &b, end); err != nil {
		t.Fatal(err)
	}
	signer, err := w.Door().Audit().Signer()
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), signature, signer.PublicKey()
}

func checkFile(t *testing.T, file []byte, signature, key string) store.AuditFile {
	t.Helper()
	check, err := store.CheckAuditFile(bytes.NewReader(file), signature, key)
	if err != nil {
		t.Fatal(err)
	}
	return check
}

func TestCheckAuditFile_WorksOffline(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	file, signature, key := exported(t, w)
	check := checkFile(t, file, signature, key)
	if check.Signed != nil || check.Bad != nil || check.Events != 4 || check.Tenant != w.Tenant || !bytes.Equal(check.Head, checked(t, w).Head) {
		t.Fatalf("%+v", check)
	}
	for line := range bytes.Lines(file) {
		if !json.Valid(line) {
			t.Errorf("no JSON: %s", line)
		}
	}
	recordEvent(t, w, "anna", "test.later", "x")
	var same bytes.Buffer
	if again, err := w.Door().Audit().Export(t.Context(), &same, 4); err != nil || again != signature || !bytes.Equal(same.Bytes(), file) {
		t.Errorf("the same place at another time gives something else: %v", err)
	}
	other, err := w.OtherDoor().Audit().Signer()
	if err != nil || checkFile(t, file, signature, other.PublicKey()).Signed == nil {
		t.Errorf("another tenant's key fits (%v)", err)
	}
	for _, none := range []string{"", "AAAA", "no base64"} {
		if checkFile(t, file, none, key).Signed == nil || checkFile(t, file, signature, none).Signed == nil {
			t.Errorf("%q is a signature or a key", none)
		}
	}
}

// Every byte, one after the other.
func TestCheckAuditFile_FindsOneChangedByte(t *testing.T) {
	t.Parallel()
	file, signature, key := exported(t, fixture.New(t))
	for i := range file {
		changed := slices.Clone(file)
		changed[i] ^= 1
		if checkFile(t, changed, signature, key).Signed == nil {
			t.Fatalf("byte %d may be changed: %q", i, changed[i])
		}
		if checkFile(t, file[:i], signature, key).Signed == nil {
			t.Fatalf("the file may end after %d bytes", i)
		}
	}
}

// What was changed in the database before the export is signed as it was found, and found by the chain.
func TestAnExportOfATamperedAuditLogSaysWhere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ change, with string }{
		"changed": {"update audit_events set action = 'test.other' where tenant_id = $1 and action = 'test.1'", ""},
		"gone":    {"delete from audit_events where tenant_id = $1 and action = 'test.1'", ""},
		"by hand": {"", `"action":"test.1"`},
		"no JSON": {"", `"tenant_id":`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fixture.New(t)
			file, signature, key := exported(t, w)
			if tc.change != "" {
				tamper(t, w, tc.change)
				file, signature, key = exportOf(t, w)
			}
			lines := strings.SplitAfter(string(file), "\n")
			if tc.with != "" {
				lines[2] = strings.Replace(lines[2], tc.with, `"action":"test.9"`, 1)
			}
			check := checkFile(t, []byte(strings.Join(lines, "")), signature, key)
			if check.Bad == nil || check.Bad.N != 3 || (check.Signed == nil) != (tc.with == "") {
				t.Errorf("%+v, signed: %v", check.Bad, check.Signed)
			}
		})
	}
}

// A disk that is full, or a browser that went away.
func TestExportAudit_WriteErrorGivesNoSignature(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	exported(t, w)
	_, out := io.Pipe()
	_ = out.Close()
	if signature, err := w.Door().Audit().Export(t.Context(), out, 4); err == nil || signature != "" {
		t.Errorf("%q, %v", signature, err)
	}
}
