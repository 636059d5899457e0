package storage

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/farsight-console/farsight/storage/internal/disk"
)

// sector is what a disk writes as one: a longer write may be torn between two of them.
const sector = 512

// recording is a model of a file system over a power cut. What was written is certain once its
// file was synced, and a name once its directory was; until then each of them may or may
// not be there afterwards, a write also in part, and a later one without an earlier one.
type recording struct {
	names   map[string]*inode // as programs see them now; a directory has no inode
	certain map[string]*inode
	pending []naming
}

// inode is what a name stands for; nil data means a directory.
type inode struct {
	dir     bool
	certain []byte
	pending []change
}

// change is a write that was not synced, or a new size.
type change struct {
	at       int64
	data     []byte
	truncate bool
}

// naming is a change of names that was not synced: all of it or nothing. The zero inode
// removes the name.
type naming struct {
	dir string
	to  map[string]*inode
}

func newDisk(root string) *recording {
	d := &recording{names: map[string]*inode{}, certain: map[string]*inode{}}
	d.names[root], d.certain[root] = &inode{dir: true}, &inode{dir: true}
	return d
}

func (d *recording) name(dir string, to map[string]*inode) {
	for path, node := range to {
		if node == nil {
			delete(d.names, path)
			continue
		}
		d.names[path] = node
	}
	d.pending = append(d.pending, naming{dir, to})
}

func (d *recording) create(path string, dir bool) {
	if d.names[path] == nil {
		d.name(filepath.Dir(path), map[string]*inode{path: {dir: dir}})
	}
}

func (d *recording) rename(from, to string) {
	d.name(filepath.Dir(to), map[string]*inode{from: nil, to: d.names[from]})
}

func (d *recording) remove(path string) { d.name(filepath.Dir(path), map[string]*inode{path: nil}) }

func (d *recording) write(path string, c change) {
	if node := d.names[path]; node != nil {
		node.pending = append(node.pending, c)
	}
}

// size is how long programs see a file.
func (d *recording) size(path string) int64 {
	if node := d.names[path]; node != nil {
		return int64(len(node.left(always)))
	}
	return 0
}

// sync makes what was written to a file, or which names a directory has, certain.
func (d *recording) sync(path string) {
	node := d.names[path]
	if node == nil {
		return
	}
	if !node.dir {
		for _, c := range node.pending {
			node.certain = c.apply(node.certain)
		}
		node.pending = nil
		return
	}
	d.pending = slices.DeleteFunc(d.pending, func(n naming) bool {
		if n.dir == path {
			n.apply(d.certain)
		}
		return n.dir == path
	})
}

func (n naming) apply(names map[string]*inode) {
	for path, node := range n.to {
		if node == nil {
			delete(names, path)
			continue
		}
		names[path] = node
	}
}

func (c change) apply(b []byte) []byte {
	if c.truncate {
		return slices.Concat(b, make([]byte, max(0, c.at-int64(len(b)))))[:c.at]
	}
	if grow := c.at + int64(len(c.data)) - int64(len(b)); grow > 0 {
		b = append(b, make([]byte, grow)...)
	}
	copy(b[c.at:], c.data)
	return b
}

// uncertain reports whether a power cut now could lose anything.
func (d *recording) uncertain() bool {
	if len(d.pending) > 0 {
		return true
	}
	for _, node := range d.names {
		if len(node.pending) > 0 {
			return true
		}
	}
	return false
}

// luck decides what of the uncertain survives a power cut.
type luck func() bool

func never() bool  { return false }
func always() bool { return true }

func drawn(seed uint64) luck {
	r := rand.New(rand.NewPCG(seed, 1))
	return func() bool { return r.IntN(2) == 0 }
}

// after writes what a power cut leaves into the folder to, as if it were root.
func (d *recording) after(t testing.TB, root, to string, survives luck) {
	t.Helper()
	names := maps.Clone(d.certain)
	for _, n := range d.pending {
		if survives() {
			n.apply(names)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(names)) { // a folder before what is in it
		rel, below := strings.CutPrefix(path, root)
		if !below || names[filepath.Dir(path)] == nil && path != root {
			delete(names, path) // its folder is lost
			continue
		}
		if names[path].dir {
			must(t, os.MkdirAll(to+rel, disk.DirMode))
			continue
		}
		must(t, os.WriteFile(to+rel, names[path].left(survives), disk.FileMode))
	}
}

// left is what is read of a file after the cut.
func (n *inode) left(survives luck) []byte {
	b := slices.Clone(n.certain)
	for _, c := range n.pending {
		if c.truncate {
			if survives() {
				b = c.apply(b)
			}
			continue
		}
		for from := 0; from < len(c.data); from += sector {
			if survives() {
				b = change{at: c.at + int64(from), data: c.data[from:min(from+sector, len(c.data))]}.apply(b)
			}
		}
	}
	return b
}
