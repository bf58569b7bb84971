package postgres

import "syscall"

// namespaceIdentity is root seen from inside a user namespace as an ordinary user: PostgreSQL sees no root, and the
// kernel still lets it into root's own directories. A chroot or a strict container forbids it, and the trial says so.
func namespaceIdentity() []identity {
	const inside = 1000
	return []identity{{
		name: "root (in a user namespace)",
		attr: syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: inside, HostID: 0, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: inside, HostID: 0, Size: 1}},
		},
	}}
}
