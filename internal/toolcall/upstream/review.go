package upstream

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
)

// reviewTime bounds the look at one credential.
const reviewTime = 30 * time.Second

// Review has the credentials of a connector's open sessions read again, besides the callers. A session whose credential is gone, or was
// replaced, ends at once, also where nobody uses it again; one whose token was only renewed ends when what is under way in it ends.
func (p *Pool) Review(t connectors.TenantID, id connectors.ConnectorID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var open []Want
	for at, e := range p.at {
		if at.tenant == t && at.connector == id && !p.stopped {
			open = append(open, e.want)
		}
	}
	if len(open) > 0 { // so that the crew has not ended
		safe.GoIn(&p.crew, safe.Upstream, func() {
			for i := range open {
				p.review(&open[i])
			}
		})
	}
}

// review ends a session that the next use would end. A credential that cannot be read now is looked at by that use.
func (p *Pool) review(w *Want) {
	ctx, cancel := context.WithTimeout(context.Background(), reviewTime)
	defer cancel()
	u, err := p.resolve(ctx, w)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ed := p.at[placeOf(w)], editionOf(w, u)
	if e != nil && e.edition != ed && e.edition.settings == ed.settings && !ed.outdated(e.edition) {
		p.retire(e, !ed.continues(e.edition, u))
	}
}
