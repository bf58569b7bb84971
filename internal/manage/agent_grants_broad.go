package manage

import (
	"context"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// BroadGrantsError refuses a change of grants that lets agents do much more, because the person was not asked.
type BroadGrantsError struct {
	Destructive []store.ConnectorTool // destructive ones among the tools of new grants of all tools
	NeverAsks   int                   // grants with calls that would run without approval
}

func (*BroadGrantsError) Error() string { return "the change of grants is broad and needs an answer" }

// noteBroad remembers what is broad about one grant.
func (c *grantChanger) noteBroad(p grantParties, before, next connectors.Grant, exists bool) {
	was := &before
	if !exists {
		was = nil
	}
	b := next.BroadenedFrom(was, p.agent.Approval)
	if b.AllTools && !slices.Contains(c.allTools, p.connector.ID) {
		c.allTools = append(c.allTools, p.connector.ID)
	}
	if b.NeverAsks {
		c.neverAsks++
	}
}

// checkBroad fails with a BroadGrantsError if the change is broad and the person is not sure. All tools are broad only
// where some are destructive.
func (c *grantChanger) checkBroad(ctx context.Context, tx *store.Tenant) error {
	if c.change.Sure {
		return nil
	}
	broad := BroadGrantsError{NeverAsks: c.neverAsks}
	if len(c.allTools) > 0 {
		var err error
		if broad.Destructive, err = tx.Agents().DestructiveTools(ctx, c.allTools); err != nil {
			return err
		}
	}
	if len(broad.Destructive) == 0 && broad.NeverAsks == 0 {
		return nil
	}
	return &broad
}
