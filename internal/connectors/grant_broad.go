package connectors

// Broadening is how a grant lets an agent do more than before, as far as a person is asked about it.
type Broadening struct {
	AllTools  bool // all tools, later ones too, after some or none
	NeverAsks bool // calls run without approval, after a mode that asks
}

// BroadenedFrom compares the grant with the one before; nil: there was none. agent is the mode of its agent.
func (g Grant) BroadenedFrom(before *Grant, agent ApprovalMode) Broadening {
	was := agent
	if before != nil {
		was = before.ApprovalMode(agent)
	}
	return Broadening{
		AllTools:  g.AllTools && (before == nil || !before.AllTools),
		NeverAsks: g.ApprovalMode(agent) == ApprovalAuto && was != ApprovalAuto,
	}
}
