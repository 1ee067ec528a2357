package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// partition is one file of blocks, of requests that arrived in one span of
// time. A span has several, generations, when its data outgrows one file.
type partition struct {
	name  string
	start int64 // Unix hour
	gen   int
	span  time.Duration
	file

	// Store.mu protects what follows.
	refs    int                // the store's own and one for each snapshot; closed at 0
	writers int                // compactors about to write here
	bytes   int64              // allocated on disk
	totals  [numSignals]totals // of the readable blocks
}

func (p *partition) end() time.Time { return time.Unix(p.start*3600, 0).Add(p.span) }

// blockRef is a block that can be read.
type blockRef struct {
	header  block.Header
	id      uint64 // rises with arrival, per signal over the whole store
	part    *partition
	corrupt atomic.Bool // found so by a reader: not read again
}

// Buckets of a partition file. The bucket names of a signal start with its own.
var (
	bucketApplied = []byte("applied")
	bucketPart    = []byte("part")
)

func bucketBlocks(sig otlp.Signal) []byte { return []byte(sig.String() + ".blocks") }
func bucketIndex(sig otlp.Signal) []byte  { return []byte(sig.String() + ".index") }

const (
	partPrefix = "p-"
	dbSuffix   = ".db"
	tmpSuffix  = ".tmp"
	badSuffix  = ".bad"
)

func partName(start int64, gen int) string {
	return partPrefix + strconv.FormatInt(start, 10) + "-" + strconv.Itoa(gen) + dbSuffix
}

// parsePartName takes a name of partName apart, with or without .bad behind it.
func parsePartName(name string) (start int64, gen int, ok bool) {
	name = strings.TrimSuffix(name, badSuffix)
	body, isPart := strings.CutPrefix(name, partPrefix)
	body, isDB := strings.CutSuffix(body, dbSuffix)
	// The last dash: a start before 1970 brings one of its own.
	cut := strings.LastIndexByte(body, '-')
	if !isPart || !isDB || cut < 0 {
		return 0, 0, false
	}
	start, err1 := strconv.ParseInt(body[:cut], 10, 64)
	gen, err2 := strconv.Atoi(body[cut+1:])
	return start, gen, err1 == nil && err2 == nil && partName(start, gen) == name
}

// startHour returns the Unix hour at which the partition of a moment starts.
func (s *Store) startHour(unixNano int64) int64 {
	span := int64(s.opts.PartitionSpan / time.Hour)
	hour := floorDiv(unixNano, int64(time.Hour))
	return floorDiv(hour, span) * span
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// createPartition makes an empty file under a name that readers of the folder
// pass over, and gives it its own when it is whole: bbolt's first pages are not
// safe against a power cut.
func (s *Store) createPartition(start int64, gen int) (*partition, error) {
	p := &partition{name: partName(start, gen), start: start, gen: gen, span: s.opts.PartitionSpan, refs: 1}
	tmp := s.path(p.name + tmpSuffix)
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := p.initialize(tmp); err != nil {
		return nil, errors.Join(err, os.Remove(tmp))
	}
	if err := os.Rename(tmp, s.path(p.name)); err != nil {
		return nil, errors.Join(err, os.Remove(tmp))
	}
	if err := syncDir(s.dir); err != nil {
		return nil, err
	}
	db, err := openDB(s.path(p.name), writeOptions(s.tune.genBytes))
	if err != nil {
		return nil, err
	}
	p.db = db
	p.bytes = fileBytes(s.path(p.name))
	return p, nil
}

func (p *partition) initialize(path string) error {
	db, err := openDB(path, writeOptions(0))
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		names := [][]byte{bucketApplied, bucketPart}
		for _, sig := range otlp.Signals {
			names = append(names, bucketBlocks(sig), bucketIndex(sig))
		}
		for _, name := range names {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		info := partInfo{start: p.start, spanHours: int64(p.span / time.Hour)}
		return tx.Bucket(bucketPart).Put(keyValue, encodePartInfo(&info))
	})
	return errors.Join(err, db.Close())
}

// openDB opens a bbolt file; mapBytes is how far it may grow without a remap.
func openDB(path string, o *bolt.Options) (*bolt.DB, error) {
	var db *bolt.DB
	err := guard(func() (err error) {
		db, err = bolt.Open(path, 0o600, o)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	// The default of 16 MiB would show in the apparent size of every small file.
	db.AllocSize = 1 << 20
	return db, nil
}

func readOptions() *bolt.Options {
	return &bolt.Options{Timeout: lockTimeout, ReadOnly: true, NoStatistics: true}
}

// writeOptions map mapBytes at once, which is address space only: a file that
// outgrows its map makes its writer wait for all readers. The free list is
// not written: files are dropped, not emptied, and small enough to scan.
func writeOptions(mapBytes int64) *bolt.Options {
	if strconv.IntSize < 64 {
		mapBytes = 0
	}
	return &bolt.Options{
		Timeout: lockTimeout, NoStatistics: true,
		NoFreelistSync: true, FreelistType: bolt.FreelistMapType,
		InitialMmapSize: int(mapBytes),
	}
}

// run is one compaction's outcome on its way into a partition: the blocks that
// the entries first..last of a signal became.
type run struct {
	sig         otlp.Signal
	first, last uint64 // entry numbers
	blocks      []encodedBlock
	firstID     uint64 // of the first block; the others follow
	deleted     uint64 // applied runs up to this entry are of no use any more
}

type encodedBlock struct {
	header block.Header
	bytes  []byte
}

// write puts a run into the file, whole or not at all; t are the totals of its
// signal with it.
func (p *partition) write(r *run, t totals) error {
	return p.update(func(tx *bolt.Tx) error {
		blocks, index := tx.Bucket(bucketBlocks(r.sig)), tx.Bucket(bucketIndex(r.sig))
		// Numbers only rise, so pages need no room for later insertions.
		blocks.FillPercent, index.FillPercent = 0.9, 0.9
		if err := deleteFrom(blocks, r.firstID); err != nil {
			return err
		}
		if err := deleteKeysFrom(index, r.firstID); err != nil {
			return err
		}
		for i := range r.blocks {
			id := r.firstID + uint64(i)
			if err := putValue(blocks, id, r.blocks[i].bytes); err != nil {
				return err
			}
			if err := index.Put(numberKey(id), encodeHeader(&r.blocks[i].header)); err != nil {
				return err
			}
		}
		if err := apply(tx.Bucket(bucketApplied), r); err != nil {
			return err
		}
		return putTotals(tx.Bucket(bucketPart), r.sig, t)
	})
}

// putTotals replaces the totals of one signal; compactors of others may be ahead
// in the file of what Store.mu protects.
func putTotals(b *bolt.Bucket, sig otlp.Signal, t totals) error {
	info, err := decodePartInfo(b.Get(keyValue))
	if err != nil {
		return err
	}
	info.totals[sig-1] = t
	return b.Put(keyValue, encodePartInfo(&info))
}

// deleteKeysFrom is deleteFrom for plain keys.
func deleteKeysFrom(b *bolt.Bucket, num uint64) error {
	for {
		k, _ := b.Cursor().Last()
		if k == nil || binary.BigEndian.Uint64(k) < num {
			return nil
		}
		if err := b.Delete(k); err != nil {
			return err
		}
	}
}

// apply notes that the entries of a run are in blocks of this file, and drops
// notes whose entries have left head.db since.
func apply(b *bolt.Bucket, r *run) error {
	c := b.Cursor()
	var old [][]byte
	for k, _ := c.Seek([]byte{byte(r.sig)}); len(k) == 9 && k[0] == byte(r.sig); k, _ = c.Next() {
		// Notes from this run on are leftovers of a transaction that failed.
		if last := binary.BigEndian.Uint64(k[1:]); last <= r.deleted || last >= r.first {
			old = append(old, append([]byte(nil), k...))
		}
	}
	for _, k := range old {
		if err := b.Delete(k); err != nil {
			return err
		}
	}
	return b.Put(noteKey(r.sig, r.last), encodeNote(r.sig, numberRange{r.first, r.last}))
}

// acquire returns the partition that runs of a start hour go to now, creating
// it when there is none with room. The caller owes a call of swap or release.
func (s *Store) acquire(start int64) (*partition, error) {
	s.createMu.Lock()
	defer s.createMu.Unlock()
	s.mu.Lock()
	if p := s.writable[start]; p != nil && p.bytes < s.tune.genBytes && !p.unwritable.Load() {
		p.writers++
		s.mu.Unlock()
		return p, nil
	}
	gen := s.gens[start] + 1
	s.mu.Unlock()
	p, err := s.createPartition(start, gen)
	if err != nil {
		return nil, fmt.Errorf("cannot create partition: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.writers++
	s.writable[start] = p
	s.addPartition(p)
	return p, nil
}

// seal ends the writing to partitions of former spans that the head holds
// nothing for.
func (s *Store) seal() {
	current := s.startHour(s.opts.Now().UnixNano())
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := make(map[int64]bool)
	for i := range s.signals {
		for _, p := range s.signals[i].pieces {
			waiting[p.start] = true
		}
	}
	for start, p := range s.writable {
		if start != current && !waiting[start] && p.writers == 0 {
			delete(s.writable, start)
		}
	}
}
