package toolcall

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/revision"
)

// Bounds of the client extensions that are a part of session keys.
const (
	maxExtensionSets   = 4                // of an agent at a connector
	extensionSetIdle   = 10 * time.Minute // as sessions
	maxExtensionAgents = 1 << 14          // of a generation of the cache
)

// extensionAgent is an agent at a connector.
type extensionAgent struct {
	agent     connectors.AgentID // zero: an admin's request
	connector connectors.ConnectorID
}

// extensionSets bounds how many different extensions the requests of an agent declare to a server: each set needs a session.
type extensionSets struct {
	mu   sync.Mutex
	sets *limit.Recent[extensionAgent, *[maxExtensionSets]extensionSet] // the arrays are guarded by mu
}

type extensionSet struct {
	hash [sha256.Size]byte
	used time.Time // zero: free
}

func newExtensionSets() *extensionSets {
	return &extensionSets{sets: limit.NewRecent[extensionAgent, *[maxExtensionSets]extensionSet](maxExtensionAgents)}
}

// admitSet reports whether the agent's requests may declare the set: it is one of the last ones, or a place is free.
func (e *extensionSets) admitSet(agent extensionAgent, encoded []byte, now time.Time) bool {
	hash := sha256.Sum256(encoded)
	e.mu.Lock()
	defer e.mu.Unlock()
	sets := e.sets.Get(agent)
	if sets == nil {
		sets = &[maxExtensionSets]extensionSet{}
		e.sets.Put(agent, sets)
	}
	var free *extensionSet
	for i := range sets {
		switch set := &sets[i]; {
		case set.hash == hash && !set.used.IsZero():
			set.used = now
			return true
		case now.Sub(set.used) > extensionSetIdle:
			free = set
		}
	}
	if free == nil {
		return false
	}
	*free = extensionSet{hash, now}
	return true
}

// relayedExtensions returns the extensions of a client that requests to a connector's server declare: those that the server
// declares too, and that for UI. Beyond the bound, they are those of a client that declares none.
func (cs *callSender) relayedExtensions(v *agentview.View, connector *agentview.ConnectorView, client map[string]json.RawMessage) map[string]json.RawMessage {
	base := map[string]json.RawMessage{}
	if servesApps(connector) {
		base[revision.UIExtension] = json.RawMessage(revision.UISettings)
	}
	if len(client) == 0 {
		return base
	}
	server, relayed := serverExtensions(connector), maps.Clone(base)
	for name, settings := range client {
		if server[name] != nil || name == revision.UIExtension {
			relayed[name] = settings
		}
	}
	if encoded := mcp.EncodeExtensions(relayed); string(encoded) != string(mcp.EncodeExtensions(base)) &&
		!cs.extensionSets.admitSet(extensionAgent{v.Agent.ID, connector.Connector.ID}, encoded, cs.o.Now()) {
		return base
	}
	return relayed
}

// servesApps reports whether a server's tools are listed for a client of MCP Apps, as syncs are, so that calls need the
// extension too.
func servesApps(connector *agentview.ConnectorView) bool {
	return connector.HasApps() || serverExtensions(connector)[revision.UIExtension] != nil
}

// serverExtensions returns the extensions that a connector's server declares.
func serverExtensions(connector *agentview.ConnectorView) map[string]json.RawMessage {
	if !bytes.Contains(connector.Capabilities, []byte(`"extensions"`)) { // most do not, and each call asks
		return nil
	}
	return mcp.Extensions(connector.Capabilities, mcp.MaxServerExtensions)
}

// withUIExtension declares MCP Apps in the capabilities of a request to a server of 2026-07-28. Without capabilities, those of
// the session are sent.
func withUIExtension(meta json.RawMessage) json.RawMessage {
	capabilities, _ := findMember(meta, revision.MetaCapabilities)
	if len(capabilities) == 0 || capabilities[0] != '{' {
		return meta
	}
	extensions, _ := findMember(capabilities, "extensions")
	if len(extensions) == 0 || extensions[0] != '{' {
		extensions = json.RawMessage("{}")
	}
	if ui, _ := findMember(extensions, revision.UIExtension); ui != nil {
		return meta
	}
	extensions = withMember(extensions, revision.UIExtension, json.RawMessage(revision.UISettings))
	return withMember(meta, revision.MetaCapabilities, withMember(capabilities, "extensions", extensions))
}
