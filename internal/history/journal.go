package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// A journal is a file of fixed slots in this process's memory, and in the kernel's: what is written there survives the process, though
// not the machine. A call has a slot from its beginning until it is in the database. So a process that is killed leaves behind which
// calls it had under way, and which had just ended. There are names and ids in it, and neither arguments nor results.
const (
	slotSize  = 2 << 10
	slotCount = 8 << 10 // calls of the last 100 ms, and a few more; those that find no slot have none
	maxName   = 200     // of a tool, and of the others less

	// Where the call came from stands behind all that may be before it, where servers of the release before wrote nothing.
	originAt = 1600

	journalPrefix = "calls-"
	// A journal has another name until it is locked: processes beside this one would take it for that of a dead process.
	unlockedPrefix = "new-calls-"
)

// journal is guarded by the writer's mu.
type journal struct {
	path   string
	file   *os.File
	memory []byte
	free   []int32
}

// openJournal makes the journal of a process in a folder, which is made, too; nil where dir is empty.
func openJournal(dir string, id connectors.InstanceID) (*journal, error) {
	if dir == "" {
		return nil, nil //nolint:nilnil // a process without a journal works
	}
	if err := os.MkdirAll(dir, 0o711); err != nil { //nolint:gosec // the embedded PostgreSQL's user has its folder in there
		return nil, err
	}
	path, unlocked := filepath.Join(dir, journalPrefix+id.String()), filepath.Join(dir, unlockedPrefix+id.String())
	file, err := os.OpenFile(unlocked, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{path: path, file: file}
	err = allocate(file, slotSize*slotCount)
	if err == nil {
		err = lock(file)
	}
	if err == nil {
		j.memory, err = share(file, slotSize*slotCount)
	}
	if err == nil {
		err = os.Rename(unlocked, path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(unlocked))
	}
	for i := range slotCount {
		j.free = append(j.free, int32(slotCount-1-i))
	}
	return j, nil
}

// take writes a call into a slot; -1: there is none.
func (j *journal) take(t connectors.TenantID, c *connectors.ToolCall) int32 {
	if j == nil || len(j.free) == 0 {
		return -1
	}
	slot := j.free[len(j.free)-1]
	j.free = j.free[:len(j.free)-1]
	at := j.memory[int(slot)*slotSize:][:slotSize]
	writeSlot(at[1:1], t, c)
	writeOrigin(at, c.CallOrigin)
	at[0] = 1 // last: a slot that is half written is empty
	return slot
}

// leave empties a slot.
func (j *journal) leave(slot int32) {
	if slot < 0 {
		return
	}
	j.memory[int(slot)*slotSize] = 0
	j.free = append(j.free, slot)
}

// close ends the journal. whole: what is in it is in the database, and it is removed.
func (j *journal) close(whole bool) error {
	if j == nil {
		return nil
	}
	var err error
	if whole {
		err = os.Remove(j.path)
	}
	return errors.Join(err, unshare(j.memory), j.file.Close())
}

func writeSlot(b []byte, t connectors.TenantID, c *connectors.ToolCall) {
	for _, id := range []uuid.UUID{t.UUID, c.ID.UUID, idOf(c.AgentID), idOf(c.ConnectorID), idOf(c.TokenID), idOf(c.InstanceID)} {
		b = append(b, id[:]...)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(c.StartedAt.UnixMicro()))
	b = binary.LittleEndian.AppendUint64(b, uint64(c.RequestBytes))
	for _, s := range []string{c.AgentSlug, c.ConnectorSlug, string(c.Kind), string(c.Source), c.Tool, c.ExposedName, c.Caller} {
		s = s[:min(len(s), maxName)]
		b = append(append(b, byte(len(s))), s...)
	}
}

// writeOrigin writes into a slot where its call came from.
func writeOrigin(slot []byte, o connectors.CallOrigin) {
	b := slot[originAt:originAt]
	for _, s := range []string{o.From(), o.RequestID} {
		s = s[:min(len(s), maxName)]
		b = append(append(b, byte(len(s))), s...)
	}
}

func readOrigin(slot []byte) connectors.CallOrigin {
	b := slot[originAt:]
	var texts [2]string
	for i := range texts {
		n := min(int(b[0]), maxName)
		texts[i], b = string(b[1:1+n]), b[1+n:]
	}
	return connectors.CallOriginOf(texts[0], texts[1])
}

// idOf is an id's bytes; zero: there is none.
func idOf[T ~struct{ uuid.UUID }](id *T) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return struct{ uuid.UUID }(*id).UUID
}

// readSlot is the call of a slot; ok is false where it is empty.
func readSlot(b []byte) (c store.OwnedCall, ok bool) {
	if b[0] != 1 {
		return c, false
	}
	c.CallOrigin = readOrigin(b)
	b = b[1:]
	var ids [6]uuid.UUID
	for i := range ids {
		b = b[copy(ids[i][:], b):]
	}
	c.Tenant, c.ID = connectors.TenantID{UUID: ids[0]}, connectors.ToolCallID{UUID: ids[1]}
	c.AgentID, c.ConnectorID = &connectors.AgentID{UUID: ids[2]}, &connectors.ConnectorID{UUID: ids[3]}
	c.TokenID, c.InstanceID = &connectors.AgentTokenID{UUID: ids[4]}, &connectors.InstanceID{UUID: ids[5]}
	c.StartedAt = time.UnixMicro(int64(binary.LittleEndian.Uint64(b))).UTC()
	c.RequestBytes = int64(binary.LittleEndian.Uint64(b[8:]))
	b = b[16:]
	var texts [7]string
	for i := range texts {
		n := int(b[0])
		if n > len(b)-1 {
			return c, false
		}
		texts[i], b = strings.ToValidUTF8(string(b[1:1+n]), ""), b[1+n:] // a long one was cut between two bytes
	}
	c.AgentSlug, c.ConnectorSlug, c.Kind, c.Source = texts[0], texts[1], connectors.CallKind(texts[2]), connectors.CallSource(texts[3])
	c.Tool, c.ExposedName, c.Caller = texts[4], texts[5], texts[6]
	return c, true
}

// lostCalls reads what a dead process left behind. Files of living ones are locked.
func lostCalls(path string, now time.Time) (calls []store.OwnedCall, _ error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if err := lock(file); err != nil {
		return nil, fmt.Errorf("its process lives: %w", err)
	}
	slot := make([]byte, slotSize)
	for i := range int64(slotCount) {
		if n, _ := file.ReadAt(slot, i*slotSize); n < slotSize {
			break
		}
		if c, ok := readSlot(slot); ok {
			c.Status, c.Outcome, c.CompletedAt = connectors.CallError, connectors.OutcomeLost, &now
			c.ErrorCode, c.ErrorMessage = "interrupted", "The server stopped during this call. Whether the tool ran is not known."
			c.Duration = max(0, now.Sub(c.StartedAt))
			calls = append(calls, c)
		}
	}
	return calls, nil
}
