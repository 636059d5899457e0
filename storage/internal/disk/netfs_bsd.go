//go:build darwin || freebsd

package disk

import "golang.org/x/sys/unix"

// NetworkKind names the network file system that dir lies on; "" when it lies on a local one.
func NetworkKind(dir string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return "", err
	}
	if st.Flags&unix.MNT_LOCAL != 0 {
		return "", nil
	}
	return unix.ByteSliceToString(st.Fstypename[:]), nil
}
