package store

import (
	"context"
	"time"

	"patchbay/internal/store/dbgen"
)

// LearnedTerm is a term of searches that led to a tool.
type LearnedTerm struct {
	ToolKey
	Term   string
	Weight float64 // how often, less for what is long ago
}

// Bounds of what a tenant's searches teach.
const (
	MaxLearnedRows   = 10_000
	maxLearnedBytes  = 1 << 20
	learnedRowBytes  = 64  // of a row, beside its texts
	maxLearnedTool   = 256 // bytes; longer names are not learned
	maxLearnedTerm   = 32  // bytes
	maxLearnedWeight = 16
	minLearnedWeight = 0.1 // less is forgotten
	learnedHalfLife  = 30 * 24 * time.Hour
)

// Learned reads which terms of searches led to which tools, the heaviest first.
func (t Tools) Learned(ctx context.Context) ([]LearnedTerm, error) {
	rows, err := t.q.LearnedTerms(ctx, dbgen.LearnedTermsParams{
		TenantID: t.id, HalfLifeSeconds: learnedHalfLife.Seconds(), MinWeight: minLearnedWeight, MaxRows: MaxLearnedRows,
	})
	if err != nil {
		return nil, err
	}
	terms := make([]LearnedTerm, len(rows))
	for i, r := range rows {
		terms[i] = LearnedTerm{ToolKey: ToolKey{r.ConnectorID, r.Tool}, Term: r.Term, Weight: r.Weight}
	}
	return terms, nil
}

// AddLearned adds weights of terms, each term of a tool once, and deletes the least weights beyond the bounds. Terms of
// deleted connectors are left out. A tenant without a call history learns nothing.
func (t Tools) AddLearned(ctx context.Context, terms []LearnedTerm) error {
	add := dbgen.AddLearnedTermsParams{TenantID: t.id, MaxWeight: maxLearnedWeight, HalfLifeSeconds: learnedHalfLife.Seconds()}
	for _, l := range terms {
		tool, term := cleanText(l.Tool), cleanText(l.Term)
		if tool == "" || len(tool) > maxLearnedTool || term == "" || len(term) > maxLearnedTerm || l.Weight <= 0 {
			continue
		}
		add.ConnectorIds, add.Tools = append(add.ConnectorIds, l.ConnectorID.UUID), append(add.Tools, tool)
		add.Terms, add.Weights = append(add.Terms, term), append(add.Weights, l.Weight)
	}
	if len(add.Tools) == 0 {
		return nil
	}
	return t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.q.AddLearnedTerms(ctx, add); err != nil {
			return classifyError(err)
		}
		_, err := tx.q.TrimLearnedTerms(ctx, dbgen.TrimLearnedTermsParams{
			TenantID: t.id, RowBytes: learnedRowBytes, HalfLifeSeconds: learnedHalfLife.Seconds(),
			MinWeight: minLearnedWeight, MaxRows: MaxLearnedRows, MaxBytes: maxLearnedBytes,
		})
		return classifyError(err)
	})
}
