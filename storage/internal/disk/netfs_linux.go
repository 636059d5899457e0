package disk

import (
	"golang.org/x/sys/unix"
)

// networkKinds are file systems on which flock and mmap cannot be trusted between hosts (numbers
// from statfs(2) and the kernel's magic.h).
var networkKinds = map[int64]string{
	0x6969:     "NFS",
	0x517B:     "SMB",
	0xFE534D42: "SMB2",
	0xFF534D42: "CIFS",
	0x01021997: "9P",
	0x65735546: "FUSE (sshfs and the like)",
	0x5346414F: "AFS",
	0x6B414653: "AFS",
	0x73757245: "Coda",
	0x564C:     "NCP",
	0x00C36400: "Ceph",
	0x0BD00BD0: "Lustre",
	0x01161970: "GFS2",
	0x7461636F: "OCFS2",
	0x19830326: "BeeGFS",
	0x47504653: "GPFS",
	0x786F4256: "VirtualBox shared folder",
	0xBACBACBC: "VMware shared folder",
}

// NetworkKind names the network file system that dir lies on; "" when it lies on a local one.
func NetworkKind(dir string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", err
	}
	return networkKinds[int64(uint32(st.Type))], nil
}
