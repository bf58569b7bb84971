package store

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// FuzzCursor checks that an invented cursor is a position in its list with storable texts, or is refused with a
// sentence.
func FuzzCursor(f *testing.F) {
	for _, position := range [][]string{{"a"}, {"a", "b"}, {"2026-01-31T12:00:00Z x", "name", "018f4e9e-8c3a-7b4e-9d2f-3a5b6c7d8e9f"}, {"\x00"}, {}} {
		f.Add(writeCursor("agents", position...), "agents", len(position))
		f.Add(writeCursor("agents by changed, down", position...), "agents", len(position))
	}
	for _, text := range []string{`["agents","\ud800"]`, `["agents",null]`, `{"0":"agents"}`, `["agents","a"] `, `null`, "[\"agents\",\"\xff\"]"} {
		f.Add(base64.RawURLEncoding.EncodeToString([]byte(text)), "agents", 1)
	}
	f.Add("WyJh", "", 0)
	f.Add("=", "agents", 1)
	f.Fuzz(func(t *testing.T, cursor, list string, parts int) {
		p := Page{Cursor: cursor, Order: SortOrder{By: "changed", Descending: true}}
		at, err := p.parseCursor(list, parts)
		refused(t, cursor, err)
		if err == nil && (at == nil) != (cursor == "") || at != nil && len(at) != parts {
			t.Fatalf("%q is the place %q", cursor, at)
		}
		for _, text := range at {
			if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
				t.Errorf("%q is a place at %q", cursor, text)
			}
		}
		if at != nil && utf8.ValidString(list) {
			again, err := Page{Cursor: writeCursor(list, at...)}.parseCursor(list, parts)
			if err != nil || !slices.Equal(again, at) {
				t.Errorf("%q is the place %q, which is read back as %q: %v", cursor, at, again, err)
			}
		}
		if other, err := p.parseCursor(list+"x", parts); err == nil && other != nil && at != nil {
			t.Errorf("%q is a place in two lists", cursor)
		}
		_, err = p.afterID(list)
		refused(t, cursor, err)
		_, id, err := p.afterNamed(list)
		refused(t, cursor, err)
		if id != nil && err == nil && !strings.EqualFold(id.String(), lastOf(t, p, list)) {
			t.Errorf("%q names %s", cursor, id)
		}
		ordered, err := p.parseOrderCursor(list)
		refused(t, cursor, err)
		moment, err := ordered.splitTime()
		refused(t, cursor, err)
		if err == nil && (moment.Year() < 0 || moment.Year() > 9999) {
			t.Errorf("%q is the moment %s", cursor, moment)
		}
	})
}

// refused fails if a cursor is refused without a sentence.
func refused(t *testing.T, cursor string, err error) {
	t.Helper()
	if err != nil && !fault.Is(err, fault.Malformed) {
		t.Errorf("%q: %v", cursor, err)
	}
}

func lastOf(t *testing.T, p Page, list string) string {
	t.Helper()
	at, err := p.parseCursor(list, 2)
	if err != nil || len(at) == 0 {
		t.Fatalf("%q is read once: %v", p.Cursor, err)
	}
	return at[1]
}

// FuzzAuditFile checks that only the exported bytes count as signed, and that entries reported as intact are
// the first ones of the export.
func FuzzAuditFile(f *testing.F) {
	signature, key, whole := exportedAudit(f)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(lines[0])
	f.Add(slices.Concat(lines[1], lines[0]))
	f.Add(slices.Concat(lines[0], lines[0]))
	f.Add(bytes.Replace(whole, []byte(`"actor_name":"Ada"`), []byte(`"actor_name":"Eve"`), 1))
	f.Add(bytes.Replace(whole, []byte(`,"detail":`), []byte(`,"Detail":{},"detail":`), 1))
	f.Add([]byte(`{"tenant_id":"018f4e9e-8c3a-7b4e-9d2f-3a5b6c7d8e9f","cut":{"entries":1,"hash":"` + strings.Repeat("0", 64) + `","signature":""}}` + "\n"))
	f.Add([]byte(`{"cut":null}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		found, err := CheckAuditFile(bytes.NewReader(file), signature, key)
		if err != nil {
			t.Fatal(err)
		}
		if (found.Signed == nil) != bytes.Equal(file, whole) {
			t.Errorf("%q is signed: %v", file, found.Signed)
		}
		if found.Events > 3 || found.Cut != 0 && found.Bad == nil {
			t.Fatalf("%q has %d entries, of which %d are cut off", file, found.Events, found.Cut)
		}
		if n := int64(bytes.Count(bytes.TrimSuffix(file, []byte("\n")), []byte("\n"))) + 1; found.Bad == nil && len(file) > 0 && found.Events != n {
			t.Errorf("%q has %d lines, and %d entries that are as they were recorded", file, n, found.Events)
		}
		read := bytes.SplitAfter(file, []byte("\n"))
		for i := range found.Events {
			var has, had auditLine
			if json.Unmarshal(read[i], &has) != nil || json.Unmarshal(lines[i], &had) != nil || has.Action != had.Action || has.ActorName != had.ActorName || !bytes.Equal(has.Detail, had.Detail) {
				t.Errorf("%q is taken for what was recorded as %q", read[i], lines[i])
			}
		}
	})
}

// exportedAudit is an export of three entries, as an installation makes it.
func exportedAudit(f *testing.F) (signature, key string, whole []byte) {
	f.Helper()
	ring, err := secret.NewKeyring()
	if err != nil {
		f.Fatal(err)
	}
	tenant := connectors.TenantID{UUID: uuid.MustParse("018f4e9e-8c3a-7b4e-9d2f-3a5b6c7d8e9f")}
	signer, err := ring.Signer(auditExport, tenant.String())
	if err != nil {
		f.Fatal(err)
	}
	var file bytes.Buffer
	out := bufio.NewWriter(&file)
	before := make([]byte, 32)
	for n, action := range []string{"connector.create", "agent.create", "agent.delete"} {
		at := time.Unix(1_700_000_000, int64(n)*1000).UTC()
		kind, name, target, request, ip := "person", "Ada", "a "+action, "request", "203.0.113.9"
		row := &dbgen.AuditLinksRow{
			N: int64(n) + 1, EventID: uuid.NewSHA1(tenant.UUID, []byte(action)), Present: true, At: &at, ActorType: &kind, ActorID: &tenant.UUID,
			ActorName: &name, Action: &action, Target: &target, Detail: `{"a": "ä"}`, RequestID: &request, Ip: &ip,
		}
		row.Hash = auditHash(tenant, before, row)
		before = row.Hash
		if err := writeAuditLine(out, tenant, row); err != nil {
			f.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		f.Fatal(err)
	}
	signed := secret.NewSigned()
	signed.Write(file.Bytes())
	if signature, err = signer.Sign(signed); err != nil {
		f.Fatal(err)
	}
	f.Logf("the export ends with %s", hex.EncodeToString(before))
	return signature, signer.PublicKey(), file.Bytes()
}
