package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// auditExport is the purpose of the signatures under exports of the audit log.
const auditExport = "patchbay audit export"

// auditLine is an entry in an exported audit log. detail stands last, byte for byte as the database writes it, since the hash covers it so.
type auditLine struct {
	N         int64           `json:"n"` // the place in the chain, from 1
	TenantID  uuid.UUID       `json:"tenant_id"`
	ID        uuid.UUID       `json:"id"`
	At        time.Time       `json:"at"`
	ActorType string          `json:"actor_type"`
	ActorID   *uuid.UUID      `json:"actor_id"`
	ActorName string          `json:"actor_name"`
	Action    string          `json:"action"`
	Target    string          `json:"target"`
	RequestID string          `json:"request_id"`
	IP        string          `json:"ip"`
	Hash      string          `json:"hash"`
	Detail    json.RawMessage `json:"detail,omitempty"`
}

// AuditSigner signs the tenant's exports of the audit log.
func (t *Tenant) AuditSigner() (secret.Signer, error) {
	return t.store.Keyring().Signer(auditExport, t.id.String())
}

// ExportAudit writes the tenant's audit log to w, from its first entry to the one at the place until, as JSON Lines, and returns the signature.
// Since entries are only added, the same place gives the same bytes at any time.
func (t *Tenant) ExportAudit(ctx context.Context, w io.Writer, until int64) (signature string, err error) {
	signer, err := t.AuditSigner()
	if err != nil {
		return "", err
	}
	cut, _, err := t.lastCut(ctx) // one that nobody has signed is none: whoever checks the export finds that
	if err != nil {
		return "", err
	}
	signed := secret.NewSigned()
	out := bufio.NewWriter(io.MultiWriter(w, signed))
	if err := writeCutLine(out, cut); err != nil {
		return "", err
	}
	for after := cut.Entries; after < until; {
		links, err := t.q.AuditLinks(ctx, dbgen.AuditLinksParams{TenantID: t.id, After: after, Until: until, MaxRows: auditPage})
		if err != nil {
			return "", err
		}
		if len(links) == 0 {
			break // the rest was cut off: whoever checks the export finds that
		}
		for i := range links {
			if err := writeAuditLine(out, t.id, &links[i]); err != nil {
				return "", err
			}
		}
		after = links[len(links)-1].N
	}
	if err := out.Flush(); err != nil {
		return "", err
	}
	return signer.Sign(signed)
}

// AuditEnd is the place of the tenant's last entry; 0: there is none.
func (t *Tenant) AuditEnd(ctx context.Context) (int64, error) {
	head, err := t.q.AuditHead(ctx, t.id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return head.Events, err
}

// cutLine is the first line of an export whose beginning was cut off.
type cutLine struct {
	TenantID uuid.UUID `json:"tenant_id"`
	Cut      *auditCut `json:"cut"`
}

func writeCutLine(w *bufio.Writer, cut auditCut) error {
	if cut.Entries == 0 {
		return nil
	}
	line, err := json.Marshal(cutLine{TenantID: cut.Tenant.UUID, Cut: &cut})
	if err != nil {
		return fmt.Errorf("export the cut: %w", err)
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// addCut begins the chain where an export's first line says that it was cut off; false: that line is an entry.
func (c *auditChain) addCut(text []byte, publicKey string) bool {
	var l cutLine
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if strict.Decode(&l) != nil || l.Cut == nil {
		return false
	}
	c.tenant = connectors.TenantID{UUID: l.TenantID}
	l.Cut.Tenant = c.tenant
	if l.Cut.verify(publicKey) != nil || !c.begin(*l.Cut) {
		c.fail(1, nil, AuditCutOff)
	}
	return true
}

func writeAuditLine(w *bufio.Writer, tenant connectors.TenantID, l *dbgen.AuditLinksRow) error {
	if !l.Present {
		return nil // its place stays empty: whoever checks the export finds that
	}
	line, err := json.Marshal(auditLine{
		N: l.N, TenantID: tenant.UUID, ID: l.EventID, At: l.At.UTC(), ActorType: *l.ActorType, ActorID: l.ActorID, ActorName: *l.ActorName,
		Action: *l.Action, Target: *l.Target, RequestID: *l.RequestID, IP: *l.Ip, Hash: hex.EncodeToString(l.Hash),
	})
	if err != nil {
		return fmt.Errorf("export entry %d: %w", l.N, err)
	}
	_, err = fmt.Fprintf(w, "%s,\"detail\":%s}\n", line[:len(line)-1], l.Detail)
	return err
}

// AuditFile is what a check of an exported audit log found.
type AuditFile struct {
	AuditCheck
	Tenant connectors.TenantID
	Signed error // nil: byte for byte what the key's installation exported
}

// CheckAuditFile checks an exported audit log without its installation: that its signature is one of the public key, and that each entry is
// as it was recorded. An error is one of reading.
func CheckAuditFile(file io.Reader, signature, publicKey string) (AuditFile, error) {
	signed := secret.NewSigned()
	c := auditChain{before: make([]byte, 32)}
	in := bufio.NewReader(io.TeeReader(file, signed))
	for first := true; ; first = false {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 && !(first && c.addCut(line, strings.TrimSpace(publicKey))) {
			c.addLine(line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return AuditFile{}, err
		}
	}
	f := AuditFile{AuditCheck: AuditCheck{Events: c.n, Head: c.before, Bad: c.flaw, Cut: c.cut}, Tenant: c.tenant}
	f.Signed = secret.VerifySigned(strings.TrimSpace(publicKey), auditExport, strings.TrimSpace(signature), signed)
	return f, nil
}

// addLine follows the chain along one line of an export.
func (c *auditChain) addLine(text []byte) {
	var l auditLine
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	sum := []byte(nil)
	err := strict.Decode(&l)
	if err == nil {
		sum, err = hex.DecodeString(l.Hash)
	}
	if c.n == 0 {
		c.tenant = connectors.TenantID{UUID: l.TenantID}
	}
	if err != nil || l.TenantID != c.tenant.UUID {
		c.fail(c.n+1, nil, AuditChanged)
		return
	}
	c.add(&dbgen.AuditLinksRow{
		N: l.N, EventID: l.ID, Hash: sum, Present: true, At: &l.At, ActorType: &l.ActorType, ActorID: l.ActorID, ActorName: &l.ActorName,
		Action: &l.Action, Target: &l.Target, Detail: string(l.Detail), RequestID: &l.RequestID, Ip: &l.IP,
	})
}
