package agentview

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/embeddings"
	"patchbay/internal/limit"
	"patchbay/internal/store"
	"patchbay/internal/toolsearch"
)

// embedder makes the vectors of views, one view after the other, with the operator's endpoint. Until a view has them, and
// when the endpoint is slow or fails, its searches are by words alone.
type embedder struct {
	client *embeddings.Client // nil: off
	store  *store.Store
	log    *slog.Logger
	now    func() time.Time
	count  func(v *View, bytes int64) // of the memory of the view
	queue  chan *View
	// refused has when definitions were refused; runLoop's alone.
	refused map[connectors.Hash]time.Time

	questions *limit.Rate[connectors.TenantID]
}

const (
	maxQueuedViews  = 256
	vectorsRetry    = time.Minute // after a failure
	questionTimeout = 300 * time.Millisecond
	questionRate    = 5 // of a tenant, a second; the others are searched by words
	questionBurst   = 30
	maxEmbeddedText = 2000      // bytes of a definition or a question
	maxRefusals     = 64        // requests of a view
	refusedTime     = time.Hour // before a refused definition is sent again
	maxSimilar      = 50        // tools that the vectors rank
	maxReasoned     = 5         // of these, tools with the reason
	meaningWeight   = 0.5       // of the nearest tool's likeness, where the best tool by words has 1
)

// similarTool is a tool with a definition that is like a question.
type similarTool struct {
	tool   int // position in View.Tools
	cosine float64
}

// toolVectors are the vectors of View.Tools, in their order; nil: none.
type toolVectors []embeddings.Vector

// similarTools returns the tools that are nearest in meaning, the nearest first. nil: vectors are off, not
// ready, or the endpoint did not answer in time.
func (v *View) similarTools(ctx context.Context, s ToolSearch) []similarTool {
	e := v.cache.embedder
	if e.client == nil {
		return nil
	}
	vectors := v.search.vectors.Load()
	if vectors == nil {
		e.enqueueView(v)
		return nil
	}
	if wait, _ := e.questions.Take(v.Tenant.ID, e.now()); wait > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	asked, err := e.client.Embed(ctx, []string{cutText(s.Words)})
	if err != nil {
		e.log.DebugContext(ctx, "question not embedded", slog.Any("error", err))
		return nil
	}
	return vectors.findNearest(asked[0], func(i int) bool { return s.Connector == nil || v.Tools[i].Connector == s.Connector })
}

// findNearest returns the tools with the accepted vectors nearest to one, at most maxSimilar, the nearest first.
func (all toolVectors) findNearest(to embeddings.Vector, accepts func(i int) bool) []similarTool {
	best := []similarTool{}
	for i, vector := range all {
		c := similarTool{i, embeddings.Cosine(vector, to)}
		if c.cosine <= 0 || !accepts(i) || len(best) == maxSimilar && c.cosine <= best[maxSimilar-1].cosine {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, c, func(a, b similarTool) int {
			return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.tool, b.tool))
		})
		best = slices.Insert(best, at, c)
		best = best[:min(len(best), maxSimilar)]
	}
	return best
}

// addMeaning divides the points of each tool by words by those of the best tool, and adds up to meaningWeight for its likeness, of
// which the least similar tool gets none. Equal ones stay in the order of the words. Reciprocal ranks, the usual way to merge
// rankings, lose a third of the right first tools when the model is weak; this loses one in thirty.
func addMeaning(hits []toolsearch.Hit, similar []similarTool, limit int) []toolsearch.Hit {
	fused, at := slices.Clone(hits), map[int]int{}
	for i, hit := range hits {
		fused[i].Score = hit.Score / hits[0].Score
		at[hit.Tool] = i
	}
	for rank, s := range similar {
		i, found := at[s.tool]
		if !found {
			i = len(fused)
			fused = append(fused, toolsearch.Hit{Tool: s.tool})
		}
		nearest, farthest := similar[0].cosine, similar[len(similar)-1].cosine
		likeness := 1.0
		if nearest > farthest {
			likeness = (s.cosine - farthest) / (nearest - farthest)
		}
		fused[i].Score += meaningWeight * likeness
		if rank < maxReasoned || !found {
			fused[i].Reasons = append(slices.Clone(fused[i].Reasons), toolsearch.Reason{Field: toolsearch.FieldMeaning})
		}
	}
	slices.SortStableFunc(fused, func(a, b toolsearch.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return fused[:max(0, min(limit, len(fused)))]
}

// enqueueView queues a view for its vectors, unless it is queued or has failed a moment ago.
func (e *embedder) enqueueView(v *View) {
	now := e.now()
	last := v.search.queuedAt.Load()
	if last != 0 && now.Sub(time.Unix(0, last)) < vectorsRetry || !v.search.queuedAt.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	select {
	case e.queue <- v:
	default: // full: again after vectorsRetry
	}
}

func (e *embedder) runLoop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case v := <-e.queue:
			if v.search.vectors.Load() != nil {
				continue
			}
			if err := e.prepareView(ctx, v); err != nil && ctx.Err() == nil {
				e.log.WarnContext(ctx, "tools not embedded", slog.Any("tenant_id", v.Tenant.ID), slog.Any("error", err))
			}
		}
	}
}

// prepareView reads the stored vectors of a view's tools, and makes the missing ones.
func (e *embedder) prepareView(ctx context.Context, v *View) error {
	var hashes []connectors.Hash
	seen := map[connectors.Hash]bool{}
	for _, t := range v.Tools {
		if !seen[t.Hash] {
			seen[t.Hash] = true
			hashes = append(hashes, t.Hash)
		}
	}
	vectors, err := e.store.Tenant(v.Tenant.ID).Tools().Vectors(ctx, e.client.Model(), hashes)
	if err != nil {
		return err
	}
	refusals := maxRefusals
	maps.DeleteFunc(e.refused, func(_ connectors.Hash, at time.Time) bool { return e.now().Sub(at) > refusedTime })
	missing := slices.DeleteFunc(hashes, func(h connectors.Hash) bool { return vectors[h] != nil || !e.refused[h].IsZero() })
	for batch := range slices.Chunk(missing, embeddings.MaxTexts) {
		made, err := e.embedBatch(ctx, v.Tenant.ID, batch, &refusals)
		if err != nil {
			return err
		}
		for hash, vector := range made {
			vectors[hash] = vector
		}
		v.search.queuedAt.Store(e.now().UnixNano())
	}
	all, bytes := make(toolVectors, len(v.Tools)), 0
	for i, t := range v.Tools {
		all[i] = vectors[t.Hash]
		bytes += len(all[i]) + vectorHeader
	}
	v.search.vectors.Store(&all)
	e.count(v, int64(bytes))
	return nil
}

// vectorHeader is the size of a slice.
const vectorHeader = 24

// embedBatch makes the vectors of definitions, and stores them. Those that the endpoint refuses get none.
func (e *embedder) embedBatch(ctx context.Context, tenant connectors.TenantID, batch []connectors.Hash, refusals *int) (map[connectors.Hash][]byte, error) {
	db := e.store.Tenant(tenant)
	raws, err := db.Agents().AcceptedDefinitions(ctx, batch, store.MaxServedBytes)
	if err != nil || len(raws) == 0 {
		return nil, err
	}
	var hashes []connectors.Hash
	var texts []string
	for hash, raw := range raws {
		d := connectors.DecodeTool(raw)
		hashes, texts = append(hashes, hash), append(texts, cutText(d.Name+"\n"+d.DisplayTitle()+"\n"+d.Description))
	}
	made := make(map[connectors.Hash][]byte, len(hashes))
	failed := e.embedTexts(ctx, texts, refusals, func(i int, v embeddings.Vector) {
		if v == nil {
			e.refused[hashes[i]] = e.now()
		} else {
			made[hashes[i]] = v
		}
	})
	if len(made) == 0 {
		return nil, failed
	}
	return made, errors.Join(failed, db.Tools().SaveVectors(ctx, e.client.Model(), made))
}

// embedTexts embeds texts, and calls store for each with its vector, nil for a text that is refused alone. Where the endpoint refuses
// several, it asks for each half: one tool does not keep the others of an agent from their vectors. refusals counts down: an endpoint that
// refuses all is an error. What was stored until then is kept.
func (e *embedder) embedTexts(ctx context.Context, texts []string, refusals *int, store func(i int, v embeddings.Vector)) error {
	vectors, err := e.client.Embed(ctx, texts)
	if err == nil {
		for i, v := range vectors {
			store(i, v)
		}
		return nil
	}
	if !errors.Is(err, embeddings.ErrRefused) {
		return err
	}
	if *refusals--; *refusals < 0 {
		return err
	}
	if len(texts) == 1 {
		store(0, nil)
		return nil
	}
	half := (len(texts) + 1) / 2
	if err := e.embedTexts(ctx, texts[:half], refusals, store); err != nil {
		return err
	}
	return e.embedTexts(ctx, texts[half:], refusals, func(i int, v embeddings.Vector) { store(half+i, v) })
}

// cutText returns at most maxEmbeddedText bytes of a text, as whole runes.
func cutText(text string) string {
	if len(text) > maxEmbeddedText {
		text = text[:maxEmbeddedText]
	}
	return strings.ToValidUTF8(text, "")
}
