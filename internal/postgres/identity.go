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

// identity is whom PostgreSQL runs as.
type identity struct {
	name     string
	uid, gid int
	attr     syscall.SysProcAttr // what a child needs to become it
}

// chooseIdentity picks ourselves, or for root the first that can start the programs in the data directory: the owner
// of the cluster that is there, the users postgres and nobody, and at last a user namespace in which root is nobody
// special.
func chooseIdentity(ctx context.Context, l layout, bin Binaries) (identity, error) {
	if os.Geteuid() != 0 {
		return plainIdentity(l)
	}
	for _, id := range rootsChoices(l) {
		if id.reaches(ctx, l.dir, bin) {
			return id, nil
		}
	}
	return identity{}, fault.Errorf(fault.Unavailable,
		"PostgreSQL refuses to run as root, and neither the user postgres nor nobody can reach %s and %s. "+
			"Choose a PATCHBAY_DATA_DIR that other users can pass through to, or start Patchbay as a plain user.", l.dir, bin.Dir)
}

func plainIdentity(l layout) (identity, error) {
	me := identity{uid: os.Geteuid(), gid: os.Getegid()}
	if owner, ok := ownerOf(l.data()); ok && owner != me.uid {
		name := strconv.Itoa(owner)
		if u, err := user.LookupId(name); err == nil {
			name = u.Username
		}
		return identity{}, fault.Errorf(fault.Denied,
			"The database in %s belongs to the user %s. Start Patchbay as that user or as root, or choose another PATCHBAY_DATA_DIR.", l.dir, name)
	}
	return me, nil
}

func rootsChoices(l layout) []identity {
	var choices []identity
	if owner, ok := ownerOf(l.data()); ok && owner != 0 {
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

func userIdentity(u *user.User) []identity {
	uid, err := strconv.Atoi(u.Uid)
	if err != nil || uid == 0 {
		return nil
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil
	}
	credential := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return []identity{{name: u.Username, uid: uid, gid: gid, attr: syscall.SysProcAttr{Credential: credential}}}
}

// reaches tries it: permissions have more sources (modes, lists, mount options) than we could read.
func (id identity) reaches(ctx context.Context, dir string, bin Binaries) bool {
	cmd := exec.CommandContext(ctx, bin.path("postgres"), "--version")
	cmd.Dir = dir
	attr := id.attr
	cmd.SysProcAttr = &attr
	return cmd.Run() == nil
}

// own hands the path and everything below it to the identity, where it is not the owner yet.
func (id identity) own(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	if owner, ok := ownerOf(path); ok && owner == id.uid {
		return nil
	}
	err := filepath.WalkDir(path, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, id.uid, id.gid)
	})
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("%s cannot be handed to the user %s.", path, id.name))
	}
	return nil
}

// directory makes a directory that only the identity may enter.
func (id identity) directory(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The directory %s cannot be made.", path))
	}
	if err := id.own(path); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The directory %s cannot be read.", path))
	}
	// In /tmp somebody else may have been first: a directory of theirs would let them answer in PostgreSQL's place.
	if owner, ok := ownerOf(path); !info.IsDir() || !ok || owner != id.uid {
		return fault.Errorf(fault.Unavailable, "%s belongs to somebody else; remove it, or choose a shorter PATCHBAY_DATA_DIR.", path)
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The mode of %s cannot be set.", path))
	}
	return nil
}

func ownerOf(path string) (uid int, ok bool) {
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

// passable makes the data directory: ours alone, but where PostgreSQL runs as another user that one may pass through.
func passable(dir string) error {
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The data directory %s cannot be made.", dir))
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The data directory %s cannot be read.", dir))
	}
	if owner, ok := ownerOf(dir); os.Geteuid() == 0 && ok && owner == 0 && info.Mode().Perm()&0o011 != 0o011 {
		if err := os.Chmod(dir, info.Mode().Perm()|0o011); err != nil {
			return fault.Wrap(fault.Unavailable, err, fmt.Sprintf("The mode of %s cannot be set.", dir))
		}
	}
	return nil
}
