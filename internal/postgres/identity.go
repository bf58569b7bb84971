package postgres

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"patchbay/internal/fault"
)

// osIdentity is the OS user of PostgreSQL.
type osIdentity struct {
	name     string
	uid, gid int
	attr     syscall.SysProcAttr // makes a child run as this user
}

// chooseIdentity returns the current user, or for root the first identity that can start the programs in the
// data directory: the owner of the cluster, the users postgres and nobody, and a user namespace in which root
// is an ordinary user.
func chooseIdentity(ctx context.Context, l layout, bin Binaries) (osIdentity, error) {
	if os.Geteuid() != 0 {
		return currentIdentity(l)
	}
	for _, id := range identitiesForRoot(l) {
		if id.canStart(ctx, l.dir, bin) {
			return id, nil
		}
	}
	return osIdentity{}, fault.Errorf(fault.Unavailable,
		"PostgreSQL refuses to run as root, and neither the user postgres nor nobody can reach %s and %s. "+
			"Choose a PATCHBAY_DATA_DIR that other users can traverse, or start Patchbay as another user.", l.dir, bin.Dir)
}

func currentIdentity(l layout) (osIdentity, error) {
	me := osIdentity{uid: os.Geteuid(), gid: os.Getegid()}
	if owner, ok := findOwner(l.pgData()); ok && owner != me.uid {
		name := strconv.Itoa(owner)
		if u, err := user.LookupId(name); err == nil {
			name = u.Username
		}
		return osIdentity{}, fault.Errorf(fault.Denied,
			"The database in %s belongs to the user %s. Start Patchbay as that user or as root, or choose another PATCHBAY_DATA_DIR.", l.dir, name)
	}
	return me, nil
}

func identitiesForRoot(l layout) []osIdentity {
	var choices []osIdentity
	if owner, ok := findOwner(l.pgData()); ok && owner != 0 {
		if u, err := user.LookupId(strconv.Itoa(owner)); err == nil {
			choices = append(choices, userIdentity(u)...)
		}
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			choices = append(choices, userIdentity(u)...)
		}
	}
	return append(choices, namespaceIdentity()...)
}

func userIdentity(u *user.User) []osIdentity {
	uid, err := strconv.Atoi(u.Uid)
	if err != nil || uid == 0 {
		return nil
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil
	}
	credential := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return []osIdentity{{name: u.Username, uid: uid, gid: gid, attr: syscall.SysProcAttr{Credential: credential}}}
}

// canStart tries to start a program: permissions depend on modes, ACLs and mount options, which are too many to
// check.
func (id osIdentity) canStart(ctx context.Context, dir string, bin Binaries) bool {
	cmd := exec.CommandContext(ctx, bin.programPath("postgres"), "--version")
	cmd.Dir = dir
	attr := id.attr
	cmd.SysProcAttr = &attr
	return cmd.Run() == nil
}

// chownTree makes the identity the owner of the path and everything below it, unless it is already.
func (id osIdentity) chownTree(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	if owner, ok := findOwner(path); ok && owner == id.uid {
		return nil
	}
	err := filepath.WalkDir(path, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, id.uid, id.gid)
	})
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("%s cannot be given to the user %s.", path, id.name))
	}
	return nil
}

// makeDirectory creates a directory with mode 0700 for the identity.
func (id osIdentity) makeDirectory(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The directory %s cannot be created.", path))
	}
	if err := id.chownTree(path); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The directory %s cannot be read.", path))
	}
	// In /tmp another user may have been first: with a directory of theirs they could impersonate PostgreSQL.
	if owner, ok := findOwner(path); !info.IsDir() || !ok || owner != id.uid {
		return fault.Errorf(fault.Unavailable, "%s belongs to another user; remove it, or choose a shorter PATCHBAY_DATA_DIR.", path)
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The mode of %s cannot be set.", path))
	}
	return nil
}

func findOwner(path string) (uid int, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// makePassable creates the data directory with mode 0700. If PostgreSQL runs as another user, that one may pass
// through.
func makePassable(dir string) error {
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The data directory %s cannot be created.", dir))
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The data directory %s cannot be read.", dir))
	}
	if owner, ok := findOwner(dir); os.Geteuid() == 0 && ok && owner == 0 && info.Mode().Perm()&0o011 != 0o011 {
		if err := os.Chmod(dir, info.Mode().Perm()|0o011); err != nil {
			return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The mode of %s cannot be set.", dir))
		}
	}
	return nil
}
