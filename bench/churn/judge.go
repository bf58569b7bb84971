package churn

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"
)

// interval is the time of a request.
type interval struct{ start, end time.Time }

// ownList is a response to a list request at a connector's own address.
type ownList struct {
	slug    string
	refused bool              // no such connector
	seen    map[string]string // versions by key
}

// judgeList compares a list at /mcp with each connector's possible states. seen has the versions by key.
func (a *loadAgent) judgeList(k listKind, seen map[string]string, in interval) {
	bySlot := map[string]map[string]string{}
	for key, version := range seen {
		name := k.slotName(key)
		if bySlot[name] == nil {
			bySlot[name] = map[string]string{}
		}
		bySlot[name][key] = version
	}
	for _, s := range a.allSlots() {
		have := bySlot[s.name]
		delete(bySlot, s.name)
		states, judged := s.possibleStates(in.start.Add(-a.Delay), in.end)
		if !judged {
			continue
		}
		var want []map[string]string
		for _, st := range states {
			for _, versions := range st.possibleLists(k, a.number) {
				want = append(want, mapKeys(versions, func(name string) string { return k.exposedKey(st.slug, name) }))
			}
		}
		if !slices.ContainsFunc(want, func(w map[string]string) bool { return maps.Equal(w, have) }) {
			a.recordFault(WrongList, "%s: %s has %v of %s; possible was %v", a.slug, k.method, have, s.name, want)
		}
	}
	for name, have := range bySlot {
		a.recordFault(WrongList, "%s: %s has %v, of no connector %s", a.slug, k.method, have, name)
	}
}

// judgeOwnList compares a response at a connector's own address with the connector's possible states.
func (a *loadAgent) judgeOwnList(k listKind, s *slot, got ownList, in interval) {
	states, judged := s.possibleStates(in.start.Add(-a.Delay), in.end)
	if !judged {
		return
	}
	var want []string
	for _, st := range states {
		if st.slug != got.slug || !st.isServed(a.number) {
			if got.refused {
				return
			}
			want = append(want, "no such connector")
			continue
		}
		for _, versions := range st.possibleLists(k, a.number) {
			keys := mapKeys(versions, k.ownKey)
			if !got.refused && maps.Equal(keys, got.seen) {
				return
			}
			want = append(want, fmt.Sprint(keys))
		}
	}
	a.recordFault(WrongList, "%s: %s at /mcp/%s is %v, refused %t; possible was %v", a.slug, k.method, got.slug, got.seen, got.refused, want)
}

func mapKeys(versions map[string]string, toKey func(name string) string) map[string]string {
	mapped := make(map[string]string, len(versions))
	for name, version := range versions {
		mapped[toKey(name)] = version
	}
	return mapped
}

// toolCall is a call and its response.
type toolCall struct {
	slug, name string
	number     int64
	reply      mcpReply
}

// judgeCall judges a call's response outside outages, if the connector had one state, which allows the call.
func (a *loadAgent) judgeCall(s *slot, c toolCall, in interval) {
	if r := c.reply; r.Error != nil && r.Error.Code == internalError {
		a.recordFault(Internal, "%s calls %s: %s", a.slug, exposedName(c.slug, c.name), r.Error.Message)
		return
	}
	states, judged := s.possibleStates(in.start.Add(-a.Delay), in.end)
	if !judged || len(states) != 1 || states[0].slug != c.slug || !a.Outages.isHealthy(in.start) {
		return
	}
	t := states[0].tools[c.name]
	if _, listed := states[0].listedTools(a.number)[c.name]; !listed || t.accepted != t.current {
		return
	}
	a.countReport(func(r *Report) { r.JudgedCalls++ })
	want := fmt.Sprintf("%s %s %d", s.name, c.name, c.number)
	if r := c.reply; !bytes.Contains(r.Result, []byte(`"`+want+`"`)) {
		a.recordFault(FailedCall, "%s calls %s: %d %+v %.300s, want %q", a.slug, exposedName(c.slug, c.name), r.status, r.Error, r.Result, want)
	}
}
