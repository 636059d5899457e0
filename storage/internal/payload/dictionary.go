package payload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"

	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

// DictTable holds the dictionaries with which earlier versions have packed payloads of a shard: number -> part and
// dictionary. One is never changed: what was packed with it cannot be read without it.
const DictTable = "dict"

var dictSeed = rec.TableSeed(DictTable)

// dictionary is what zstd knows of a kind of payload before it reads the first byte.
type dictionary struct {
	part  league.Part
	bytes []byte
}

// Dictionaries are those of one shard, with a decoder for each that has been used.
type Dictionaries struct {
	Known map[uint32]dictionary
	Bad   map[uint32]error // those that cannot be read, by their number

	mu       sync.Mutex
	decoders map[uint32]*zstd.Decoder
}

// noDicts decode what needs no dictionary.
var noDicts = new(Dictionaries)

// DictKey is the key of a dictionary in DictTable.
func DictKey(id uint32) []byte { return binary.BigEndian.AppendUint32(nil, id) }

// readDicts reads the dictionaries of a shard. One that is damaged takes down the payloads that
// need it, and nothing else.
func readDicts(b *bolt.Tx) *Dictionaries {
	ds := &Dictionaries{Known: map[uint32]dictionary{}, Bad: map[uint32]error{}}
	t := b.Bucket([]byte(DictTable))
	if t == nil {
		return ds
	}
	_ = t.ForEach(func(k, v []byte) error {
		// v is nil for a nested table, which a damaged file may have here.
		if len(k) != 4 || v == nil {
			return nil
		}
		id := binary.BigEndian.Uint32(k)
		d, err := openDict(k, v)
		if err != nil {
			ds.Bad[id] = err
			return nil
		}
		ds.Known[id] = d
		return nil
	})
	return ds
}

// openDict checks one stored dictionary and takes it apart.
func openDict(k, v []byte) (d dictionary, err error) {
	format, body, err := dictSeed.Open(k, v)
	if err != nil {
		return d, err
	}
	if format != rec.Dictionary {
		return d, fmt.Errorf("format %d, want %d", format, rec.Dictionary)
	}
	c := rec.Read(body)
	c.Str((*string)(&d.part))
	c.Bytes(&d.bytes)
	return d, c.Done()
}

// usable reports whether what was packed with the dictionary can be read.
func (ds *Dictionaries) usable(id uint32) bool {
	_, ok := ds.Known[id]
	return ok || id == 0
}

// decode unpacks a body with the dictionary of that number; 0 = without. ds may be nil: a file that
// was never archived has none.
func (ds *Dictionaries) decode(id uint32, body []byte) ([]byte, error) {
	if ds == nil {
		ds = noDicts
	}
	d, err := ds.decoder(id)
	if err != nil {
		return nil, err
	}
	return d.DecodeAll(body, nil)
}

func (ds *Dictionaries) decoder(id uint32) (*zstd.Decoder, error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if d := ds.decoders[id]; d != nil {
		return d, nil
	}
	// The limit refuses a body that claims to be larger than any payload may be, in columns too, before memory is
	// taken for it.
	options := []zstd.DOption{zstd.WithDecoderMaxMemory(2 * maxInflated), zstd.WithDecoderConcurrency(2)}
	if id != 0 {
		d, ok := ds.Known[id]
		if !ok {
			return nil, fmt.Errorf("dictionary %d: %w", id, ds.lost(id))
		}
		options = append(options, zstd.WithDecoderDicts(d.bytes))
	}
	d, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, err
	}
	if ds.decoders == nil {
		ds.decoders = map[uint32]*zstd.Decoder{}
	}
	ds.decoders[id] = d
	return d, nil
}

// lost says why a dictionary is not there: it is damaged, or nobody has ever stored it.
func (ds *Dictionaries) lost(id uint32) error {
	if err := ds.Bad[id]; err != nil {
		return err
	}
	return errors.New("it is not in this file")
}

// close frees the decoders, each of which holds tens of kilobytes and its history. nil and noDicts'
// may be closed, too: a decoder is made anew when it is wanted.
func (ds *Dictionaries) close() {
	if ds == nil {
		return
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, d := range ds.decoders {
		d.Close()
	}
	ds.decoders = nil
}
