package storage

import (
	"bytes"
	"errors"
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
// file was synced, and a name once its folder was; until then each of them may or may
// not be there afterwards, a write also in part, and a later one without an earlier one.
type recording struct {
	root    *inode
	top     string // the path of root
	pending []naming
}

// inode is what names stand for: a folder, with its names, or a file.
type inode struct {
	names   map[string]*inode // as programs see them now; nil = a file
	kept    map[string]*inode // those that are certain
	certain []byte
	pending []change
}

// change is a write that was not synced, or a new size.
type change struct {
	at       int64
	data     []byte
	truncate bool
}

// naming is a change of a folder's names that was not synced: all of it or nothing. The nil inode
// removes the name.
type naming struct {
	dir   *inode
	to    map[string]*inode
	other *naming // in the folder that a file is moved out of: disks with a journal lose both or none
}

func newFolder() *inode { return &inode{names: map[string]*inode{}, kept: map[string]*inode{}} }

func newDisk(top string) *recording { return &recording{root: newFolder(), top: top} }

// at is what a path stands for; nil = nothing.
func (d *recording) at(path string) *inode {
	rel, below := strings.CutPrefix(path, d.top)
	node := d.root
	for name := range strings.SplitSeq(rel, "/") {
		if name != "" && node != nil {
			node = node.names[name]
		}
	}
	if !below {
		return nil
	}
	return node
}

func (d *recording) name(n naming) {
	n.apply(now)
	d.pending = append(d.pending, n)
}

// linked is that path stands for node.
func (d *recording) linked(path string, node *inode) naming {
	return naming{dir: d.at(filepath.Dir(path)), to: map[string]*inode{filepath.Base(path): node}}
}

func (d *recording) create(path string, node *inode) {
	if d.at(path) == nil {
		d.name(d.linked(path, node))
	}
}

func (d *recording) rename(from, to string) {
	n, gone := d.linked(to, d.at(from)), d.linked(from, nil)
	if n.dir == gone.dir {
		maps.Copy(n.to, gone.to)
	} else {
		n.other = &gone
	}
	d.name(n)
}

func (d *recording) write(path string, c change) {
	if node := d.at(path); node != nil {
		node.pending = append(node.pending, c)
	}
}

// size is how long programs see a file.
func (d *recording) size(path string) int64 {
	if node := d.at(path); node != nil {
		return int64(len(node.left(always)))
	}
	return 0
}

// sync makes what was written to a file, or which names a folder has, certain.
func (d *recording) sync(path string) {
	node := d.at(path)
	if node == nil {
		return
	}
	for _, c := range node.pending {
		node.certain = c.apply(node.certain)
	}
	node.pending = nil
	d.pending = slices.DeleteFunc(d.pending, func(n naming) bool {
		if n.dir == node {
			n.apply(certain)
		}
		return n.dir == node
	})
}

// now and certain are the names that programs see, and those that are left after a power cut.
func now(dir *inode) map[string]*inode     { return dir.names }
func certain(dir *inode) map[string]*inode { return dir.kept }

func (n naming) apply(to func(dir *inode) map[string]*inode) {
	if n.other != nil {
		n.other.apply(to)
	}
	for name, node := range n.to {
		if node == nil {
			delete(to(n.dir), name)
			continue
		}
		to(n.dir)[name] = node
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

// luck decides what of the uncertain survives a power cut.
type luck func(what any) bool

func never(any) bool  { return false }
func always(any) bool { return true }

// named is the loss of what was written but not of the names, and written that of the names alone.
func named(what any) bool   { _, is := what.(naming); return is }
func written(what any) bool { return !named(what) }

func drawn(seed uint64) luck {
	r := rand.New(rand.NewPCG(seed, 1))
	return func(any) bool { return r.IntN(2) == 0 }
}

// after is what a power cut leaves: the files' bytes by their paths below the root, and folders, which
// end with a slash.
func (d *recording) after(survives luck) map[string][]byte {
	changed := map[*inode]map[string]*inode{}
	kept := func(dir *inode) map[string]*inode {
		if changed[dir] == nil {
			changed[dir] = maps.Clone(dir.kept)
		}
		return changed[dir]
	}
	for _, n := range d.pending {
		if survives(n) {
			n.apply(kept)
		}
	}
	left := map[string][]byte{}
	var add func(path string, node *inode)
	add = func(path string, node *inode) {
		if node.names == nil {
			left[path] = node.left(survives)
			return
		}
		left[path+"/"] = nil
		names := kept(node)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			add(path+"/"+name, names[name])
		}
	}
	add("", d.root)
	return left
}

// lay writes what a power cut left below a folder.
func lay(t testing.TB, left map[string][]byte, to string) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(left)) { // a folder before what is in it
		if strings.HasSuffix(path, "/") {
			must(t, os.MkdirAll(to+path, disk.DirMode))
			continue
		}
		must(t, writeSparse(to+path, left[path]))
	}
}

// writeSparse writes a file but for its blocks of zeros: most of a state that has grown is such.
func writeSparse(path string, body []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, disk.FileMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Truncate(int64(len(body))), f.Close()) }()
	var zeros [16 << 10]byte
	at := int64(0)
	for block := range slices.Chunk(body, len(zeros)) {
		if !bytes.Equal(block, zeros[:len(block)]) {
			if _, err := f.WriteAt(block, at); err != nil {
				return err
			}
		}
		at += int64(len(block))
	}
	return nil
}

// left is what is read of a file after the cut. It is the file's own where nothing can be lost.
func (n *inode) left(survives luck) []byte {
	if len(n.pending) == 0 {
		return n.certain
	}
	b := slices.Clone(n.certain)
	for _, c := range n.pending {
		if c.truncate {
			if survives(c) {
				b = c.apply(b)
			}
			continue
		}
		for from := 0; from < len(c.data); from += sector {
			if survives(c) {
				b = change{at: c.at + int64(from), data: c.data[from:min(from+sector, len(c.data))]}.apply(b)
			}
		}
	}
	return b
}
