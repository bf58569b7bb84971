package authserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/jws"
	"patchbay/internal/store"
)

// Bounds of a workload's own keys.
const (
	maxOwnKeysBytes = 64 << 10
	maxOwnKeys      = 20
)

// Workloads lists an agent's workloads, newest first.
func (s *Server) Workloads(ctx context.Context, a auth.Actor, agent connectors.Ref) (list []connectors.Workload, err error) {
	err = s.store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		of, err := tx.Agents().Get(ctx, agent)
		if err != nil {
			return err
		}
		list, err = tx.Workloads().List(ctx, of.ID)
		return err
	})
	return list, err
}

// AddWorkload stores a workload of an agent. Without keys the egress rules must permit its issuer.
func (s *Server) AddWorkload(ctx context.Context, a auth.Actor, agent connectors.Ref, w connectors.Workload) (made connectors.Workload, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return made, err
	}
	w = w.Normalized()
	if err := s.checkWorkload(&w); err != nil {
		return made, err
	}
	err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		of, err := tx.Agents().Get(ctx, agent)
		if err != nil {
			return err
		}
		// The lock serializes a tenant's actions, so the number holds.
		if _, err := tx.LockAndReadState(ctx, store.OfAgent(of.ID)); err != nil {
			return err
		}
		n, err := tx.Workloads().Count(ctx, of.ID)
		if err != nil {
			return err
		}
		if n >= connectors.MaxWorkloads {
			return fault.Errorf(fault.Conflict, "An agent has at most %d workloads. Remove one first.", connectors.MaxWorkloads)
		}
		w.AgentID = of.ID
		if made, err = tx.Workloads().Create(ctx, w); err != nil {
			return err
		}
		e := a.Event("agent_workload.create", of.Slug)
		e.Detail = workloadDetail(made)
		return tx.RecordChange(ctx, e, nil, store.OfWorkload(made.ID))
	})
	return made, err
}

// RemoveWorkload deletes a workload. Its tokens end at once.
func (s *Server) RemoveWorkload(ctx context.Context, a auth.Actor, agent connectors.Ref, id connectors.AgentWorkloadID) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		of, err := tx.Agents().Get(ctx, agent)
		if err != nil {
			return err
		}
		was, err := tx.LockAndReadState(ctx, store.OfWorkload(id))
		if err != nil {
			return err
		}
		gone, err := tx.Workloads().Delete(ctx, of.ID, id)
		if err != nil {
			return err
		}
		e := a.Event("agent_workload.delete", of.Slug)
		e.Detail = workloadDetail(gone)
		return tx.RecordChange(ctx, e, was, store.OfWorkload(id))
	})
}

// checkWorkload validates a workload. With given keys the issuer is not contacted, and may be internal
// to a cluster.
func (s *Server) checkWorkload(w *connectors.Workload) error {
	fields := w.Validate()
	w.Keys = bytes.TrimSpace(w.Keys)
	switch {
	case len(w.Keys) == 0 || bytes.Equal(w.Keys, []byte("null")):
		w.Keys = nil
		if _, err := s.checkURL(w.Issuer); err != nil && len(fields) == 0 {
			fields = append(fields, fault.Field{Location: "issuer", Message: err.Error()})
		}
	default:
		if defect := findKeysDefect(w.Keys); defect != "" {
			fields = append(fields, fault.Field{Location: "keys", Message: defect})
		}
	}
	return fault.InvalidFields(fields...)
}

// findKeysDefect describes what is wrong with pasted keys; empty: nothing.
func findKeysDefect(text json.RawMessage) string {
	var set rawKeySet
	switch {
	case len(text) > maxOwnKeysBytes:
		return "The keys are longer than 64 KiB."
	case json.Unmarshal(text, &set) != nil || len(set.Keys) == 0:
		return `Paste a JWK Set: {"keys": […]}.`
	case len(set.Keys) > maxOwnKeys:
		return "Paste at most 20 keys."
	}
	for _, raw := range set.Keys {
		key, err := jws.ParseKey(raw)
		if errors.Is(err, jws.ErrUnsafeKey) {
			return "Paste public keys only. A private key or shared secret was found; replace it at its issuer."
		}
		if err != nil {
			return "A key can't be read. RSA, EC and Ed25519 keys are supported."
		}
		if !key.IsPublic() {
			return "Paste public keys only. A private key or shared secret was found; replace it at its issuer."
		}
	}
	return ""
}
