package manage

import (
	"context"
	"encoding/json"
	"slices"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/openapi/httpcall"
	"patchbay/internal/shaping"
	"patchbay/internal/store"
)

// ShapingRef names a tool of an agent's grant.
type ShapingRef struct {
	Agent     connectors.Ref
	Connector connectors.Ref
	Tool      string // the upstream's name
}

// SetShaping sets how the answers of a tool are shortened for an agent; zero: not at all. It takes effect within a second in
// every process.
func (r *Registry) SetShaping(ctx context.Context, a auth.Actor, ref ShapingRef, s connectors.Shaping) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, target, err := findGrant(ctx, tx, ref.Agent, ref.Connector)
		if err != nil {
			return err
		}
		state := store.OfGrant(owner.ID, target.ID)
		before, err := tx.LockAndReadState(ctx, state)
		if err != nil {
			return err
		}
		if err := checkShaping(ctx, tx, a, owner, target, ref.Tool, s); err != nil {
			return err
		}
		if err := tx.Agents().SetShaping(ctx, owner.ID, target.ID, ref.Tool, s); err != nil {
			return err
		}
		e := a.Event("agent_grant.shape", owner.Slug+"/"+target.Slug)
		e.Detail = map[string]any{"agent_id": owner.ID.String(), "connector_id": target.ID.String(), "tool": ref.Tool}
		return tx.RecordChange(ctx, e, before, state)
	})
}

func checkShaping(ctx context.Context, tx *store.Tenant, a auth.Actor, owner connectors.Agent, target connectors.Connector, tool string, s connectors.Shaping) error {
	grant, err := tx.Agents().Grant(ctx, owner.ID, target.ID)
	if err != nil || s.IsZero() {
		return err
	}
	if a.Tenant.CallHistory == connectors.HistoryNone {
		return fault.Errorf(fault.Conflict, "Results aren't kept in the call history, so what is left out of an answer couldn't be read. Keep results in the settings first.")
	}
	if err := checkShapingRule(s); err != nil {
		return err
	}
	if _, known := grant.Shaping[tool]; !known && len(grant.Shaping) >= connectors.MaxShapedTools {
		return fault.Errorf(fault.Conflict, "The answers of at most %d tools can be shortened.", connectors.MaxShapedTools)
	}
	current, err := tx.Tools().Curated(ctx, target.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(current, func(t store.CuratedTool) bool { return t.Name == tool }) {
		return fault.Errorf(fault.NotFound, "No such tool.")
	}
	return nil
}

func checkShapingRule(s connectors.Shaping) error {
	if err := fault.InvalidFields(s.Validate()...); err != nil {
		return err
	}
	if s.Fields == "" {
		return nil
	}
	if _, err := httpcall.CompileFilter(s.Fields); err != nil {
		return fault.InvalidFields(fault.Field{Location: "fields", Message: fault.As(err).Message})
	}
	return nil
}

// maxShapingPreviews bounds the recorded answers that a preview reads.
const maxShapingPreviews = 5

// ShapingPreview is what a rule does to recorded answers, and what would shorten them most.
type ShapingPreview struct {
	Current connectors.Shaping
	Answers []PreviewedAnswer // newest first
	Advice  []PreviewedAdvice
}

// PreviewedAdvice is a field that the rule does not leave out yet.
type PreviewedAdvice struct {
	shaping.Advice

	Fields string // the filter of the rule, and that of the advice
	Before int    // estimated tokens of the newest answer under the rule
	After  int    // with Fields
}

// PreviewedAnswer is a recorded answer under a rule.
type PreviewedAnswer struct {
	Call    connectors.ToolCallID
	Shaped  bool
	Before  int // estimated tokens
	After   int
	Summary string
	Text    string // as the model reads it; empty: not shaped
}

// PreviewShaping applies a rule to the last answers of a tool that the history keeps. nil: the stored rule. Answers that are for
// auditors alone are not read.
func (r *Registry) PreviewShaping(ctx context.Context, a auth.Actor, ref ShapingRef, s *connectors.Shaping) (p ShapingPreview, err error) {
	if err := a.Require(connectors.PermRead); err != nil {
		return p, err
	}
	if err := r.previews.Acquire(ctx, a.Tenant.ID); err != nil {
		return p, err
	}
	defer r.previews.Release(a.Tenant.ID)
	var results []json.RawMessage
	err = r.store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) error {
		owner, target, err := findGrant(ctx, tx, ref.Agent, ref.Connector)
		if err != nil {
			return err
		}
		grant, err := tx.Agents().Grant(ctx, owner.ID, target.ID)
		if err != nil || a.Tenant.WithholdsBodies() {
			return err
		}
		p.Current = grant.Shaping[ref.Tool]
		p.Answers, results, err = recordedAnswers(ctx, tx, target.ID, ref.Tool)
		return err
	})
	if err != nil {
		return p, err
	}
	if s == nil {
		s = &p.Current
	} else if err := checkShapingRule(*s); err != nil {
		return p, err
	}
	if err := p.applyRule(ctx, *s, results); err != nil {
		return p, err
	}
	return p, p.addAdvice(ctx, *s, results)
}

func recordedAnswers(ctx context.Context, tx *store.Tenant, connector connectors.ConnectorID, tool string) (answers []PreviewedAnswer, results []json.RawMessage, err error) {
	calls, err := tx.Calls().List(ctx, store.CallFilter{
		Connector: &connector, Tool: tool, Status: connectors.CallSuccess, Page: store.Page{Limit: maxShapingPreviews},
	})
	for _, c := range calls.Items {
		whole, err := tx.Calls().Get(ctx, c.ID)
		if err != nil {
			return nil, nil, err
		}
		if whole.Content == nil {
			continue
		}
		result := map[string]json.RawMessage{"content": whole.Content}
		if whole.Structured != nil {
			result["structuredContent"] = whole.Structured
		}
		raw, err := json.Marshal(result)
		if err != nil {
			return nil, nil, err
		}
		answers, results = append(answers, PreviewedAnswer{Call: c.ID}), append(results, raw)
	}
	return answers, results, err
}

// addAdvice adds the largest fields, and what leaving them out does to the newest answer.
func (p *ShapingPreview) addAdvice(ctx context.Context, s connectors.Shaping, results []json.RawMessage) error {
	for _, a := range shaping.Advise(results) {
		fields, adds := a.Extend(s.Fields)
		if !adds || len(fields) > connectors.MaxShapingFields {
			continue
		}
		newest := ShapingPreview{Answers: make([]PreviewedAnswer, 1)}
		if err := newest.applyRule(ctx, connectors.Shaping{Fields: fields, Budget: s.Budget}, results[:1]); err != nil {
			return err
		}
		p.Advice = append(p.Advice, PreviewedAdvice{Advice: a, Fields: fields, Before: p.Answers[0].After, After: newest.Answers[0].After})
	}
	return nil
}

func (p *ShapingPreview) applyRule(ctx context.Context, s connectors.Shaping, results []json.RawMessage) error {
	rule := shaping.Rule{Budget: s.Budget}
	if s.Fields != "" {
		var err error
		if rule.Fields, err = httpcall.CompileFilter(s.Fields); err != nil {
			return err
		}
	}
	for i, raw := range results {
		answer := &p.Answers[i]
		shaped, ok := rule.Shape(ctx, raw, shaping.Notice{ID: answer.Call.String(), Tool: "read_result"})
		answer.Before = shaping.Tokens(raw)
		answer.After = answer.Before
		if ok {
			answer.Shaped, answer.After, answer.Summary, answer.Text = true, shaped.After, shaped.Summary(), shaping.Text(shaped.Raw)
		}
	}
	return nil
}
