package auditstreams

import (
	"context"
	"strings"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Create stores a stream, which is on. It starts with the entry about its creation. value is that of its header.
func (s *Service) Create(ctx context.Context, a auth.Actor, stream connectors.AuditStream, value secret.Text) (created connectors.AuditStream, err error) {
	if err := requireManager(a); err != nil {
		return created, err
	}
	stream = stream.Normalized()
	stream.Header = withDefaultHeader(stream, value)
	fields := s.findDefects(stream, "")
	if stream.Kind == connectors.StreamSyslog && !value.Empty() {
		fields = append(fields, fault.Field{Location: "secret", Message: "Syslog streams have no header."})
	}
	if err := fault.InvalidFields(append(fields, valueDefects(value)...)...); err != nil {
		return created, err
	}
	err = s.o.Store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		n, err := tx.AuditStreams().CountLocked(ctx)
		if err != nil {
			return err
		}
		if n >= connectors.MaxAuditStreams {
			return fault.Errorf(fault.Conflict, "At most %d audit streams. Delete one first.", n)
		}
		id, err := tx.AuditStreams().Create(ctx, stream, value)
		if err != nil {
			return err
		}
		if created, err = tx.AuditStreams().Get(ctx, id); err != nil {
			return err
		}
		if err := s.notifyChange(ctx, tx, a, created, connectors.StreamCreated, hostName(created.URL)); err != nil {
			return err
		}
		return tx.RecordChange(ctx, newEvent(a, "audit_stream.create", created), nil, store.OfAuditStream(id))
	})
	return created, err
}

// requireManager permits people with both permissions: to manage, and to read the audit log.
func requireManager(a auth.Actor) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return a.Require(connectors.PermAudit)
}

// withDefaultHeader returns the header's name: Authorization for a value without a name.
func withDefaultHeader(stream connectors.AuditStream, value secret.Text) string {
	if stream.Header == "" && !value.Empty() && stream.Kind == connectors.StreamHTTPS {
		return "Authorization"
	}
	return stream.Header
}

// Change holds the new settings of a stream; nil: unchanged.
type Change struct {
	Name    *string
	URL     *string
	Format  *connectors.StreamFormat
	Header  *string
	Value   *secret.Text // of the header; empty: none
	CA      *string
	Enabled *bool
}

// Update changes a stream. Its position stays. The header's value goes to one receiver: with another scheme, host or
// port it must be entered again.
func (s *Service) Update(ctx context.Context, a auth.Actor, id connectors.AuditStreamID, c Change) (updated connectors.AuditStream, err error) {
	if err := requireManager(a); err != nil {
		return updated, err
	}
	err = s.o.Store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.LockAndReadState(ctx, store.OfAuditStream(id))
		if err != nil {
			return err
		}
		old, err := tx.AuditStreams().Get(ctx, id)
		if err != nil {
			return err
		}
		stream, value := c.applyTo(old)
		if err := fault.InvalidFields(append(s.findDefects(stream, old.URL), c.secretDefects(old, stream)...)...); err != nil {
			return err
		}
		var enabled *bool // nil: a pause by a process that sends now must stay
		if stream.Enabled != old.Enabled {
			enabled = &stream.Enabled
		}
		if err := tx.AuditStreams().Update(ctx, stream, value, enabled); err != nil {
			return err
		}
		if updated, err = tx.AuditStreams().Get(ctx, id); err != nil {
			return err
		}
		if err := s.notifyUpdate(ctx, tx, a, old, updated); err != nil {
			return err
		}
		return tx.RecordChange(ctx, newEvent(a, "audit_stream.update", updated), before, store.OfAuditStream(id))
	})
	return updated, err
}

// applyTo returns the changed stream, and the new value of its header; nil: unchanged.
func (c Change) applyTo(stream connectors.AuditStream) (connectors.AuditStream, *secret.Text) {
	setIfGiven(&stream.Name, c.Name)
	setIfGiven(&stream.URL, c.URL)
	setIfGiven(&stream.Format, c.Format)
	setIfGiven(&stream.Header, c.Header)
	setIfGiven(&stream.CA, c.CA)
	setIfGiven(&stream.Enabled, c.Enabled)
	stream = stream.Normalized()
	if c.Value != nil {
		stream.Header = withDefaultHeader(stream, *c.Value)
	}
	return stream, c.Value
}

// secretDefects returns what is wrong with the header's value of a changed stream.
func (c Change) secretDefects(old, stream connectors.AuditStream) []fault.Field {
	switch {
	case c.Value != nil && stream.Kind == connectors.StreamSyslog && !c.Value.Empty():
		return []fault.Field{{Location: "secret", Message: "Syslog streams have no header."}}
	case c.Value != nil:
		return valueDefects(*c.Value)
	case old.HasSecret && (old.Origin() != stream.Origin() || !strings.EqualFold(old.Header, stream.Header)):
		return []fault.Field{{Location: "secret", Message: "Enter the header value again, because the receiver changed."}}
	}
	return nil
}

func valueDefects(value secret.Text) []fault.Field {
	if message := connectors.StreamSecretDefect(value.Reveal()); message != "" {
		return []fault.Field{{Location: "secret", Message: message}}
	}
	return nil
}

// findDefects returns the invalid fields of a stream. An unchanged URL is checked only when something is sent.
func (s *Service) findDefects(stream connectors.AuditStream, before string) []fault.Field {
	fields := stream.Validate()
	if len(fields) > 0 || stream.URL == before {
		return fields
	}
	var err error
	if stream.Kind == connectors.StreamSyslog {
		err = s.o.Egress.CheckTLS(strings.TrimPrefix(stream.URL, "tls://"))
	} else {
		_, err = s.o.Egress.CheckURL(stream.URL)
	}
	if err != nil {
		fields = append(fields, fault.Field{Location: "url", Message: egressSentence(err)})
	}
	return fields
}

// Delete deletes a stream. What it did not deliver stays in the log.
func (s *Service) Delete(ctx context.Context, a auth.Actor, id connectors.AuditStreamID) error {
	if err := requireManager(a); err != nil {
		return err
	}
	return s.o.Store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		before, err := tx.LockAndReadState(ctx, store.OfAuditStream(id))
		if err != nil {
			return err
		}
		stream, err := tx.AuditStreams().Get(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.AuditStreams().Delete(ctx, id); err != nil {
			return err
		}
		if err := s.notifyChange(ctx, tx, a, stream, connectors.StreamDeleted, hostName(stream.URL)); err != nil {
			return err
		}
		return tx.RecordChange(ctx, newEvent(a, "audit_stream.delete", stream), before, store.OfAuditStream(id))
	})
}

// notifyUpdate reports a change by which the old receiver gets no more events.
func (s *Service) notifyUpdate(ctx context.Context, tx *store.Tenant, a auth.Actor, old, updated connectors.AuditStream) error {
	if old.URL != updated.URL {
		hosts := hostName(updated.URL) + ", before: " + hostName(old.URL)
		if err := s.notifyChange(ctx, tx, a, updated, connectors.StreamMoved, hosts); err != nil {
			return err
		}
	}
	if old.Enabled && !updated.Enabled {
		return s.notifyChange(ctx, tx, a, updated, connectors.StreamTurnedOff, hostName(updated.URL))
	}
	return nil
}

// notifyChange reports a change to admins, because the receiver does not get the entry about its own end.
func (s *Service) notifyChange(ctx context.Context, tx *store.Tenant, a auth.Actor, stream connectors.AuditStream, what connectors.StreamChange, hosts string) error {
	return tx.People().AddNotice(ctx, connectors.StreamChangedNotice(stream, what, a.Event("", "").ActorName, hosts, s.o.Now()))
}

func setIfGiven[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// newEvent returns an audit entry of a stream. It holds the host only, for the rest of a URL may be a secret.
func newEvent(a auth.Actor, action string, stream connectors.AuditStream) store.Event {
	e := a.Event(action, stream.Name)
	e.Detail = map[string]any{
		"audit_stream_id": stream.ID.String(), "host": hostName(stream.URL), "kind": stream.Kind, "format": stream.Format, "enabled": stream.Enabled,
		"audit_position": stream.Cursor.AuditN, "calls_position": stream.Cursor.CallsRecord,
	}
	return e
}
