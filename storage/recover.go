package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

const (
	headName = "head.db"
	// lockTimeout is how long Open waits for another process: enough for one
	// that is just ending.
	lockTimeout = time.Second
	// headMapBytes is far above what the head grows to at the default
	// MaxHeadBytes.
	headMapBytes = 1 << 30
)

// recover opens all files and brings the state in memory to where the last
// process left the disk. The committer that it returns goes on from there.
func (s *Store) recover() (*committer, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	// First: its lock is that of the folder.
	if err := s.openHead(); err != nil {
		return nil, err
	}
	names, err := s.partitionNames()
	if err != nil {
		return nil, err
	}
	applied := make(ranges)
	for _, name := range names {
		if err := s.openPartition(name, applied); err != nil {
			return nil, err
		}
	}
	s.orderBlocks()
	c := &committer{s: s, next: 1}
	if err := s.readHead(c, applied); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", headName, err)
	}
	return c, s.openWritable()
}

// openHead opens head.db, which locks the folder, and makes its buckets.
func (s *Store) openHead() error {
	path := s.path(headName)
	if err := clearUnborn(path); err != nil {
		return err
	}
	db, err := openChecked(path, headMapBytes)
	if errors.Is(err, bolterrors.ErrTimeout) {
		return ErrLocked
	}
	if err != nil {
		return fmt.Errorf("%w (moving the file away gives up the newest records, and the rest can be served)", err)
	}
	s.head.db = db
	err = s.head.update(func(tx *bolt.Tx) error {
		_, err1 := tx.CreateBucketIfNotExists(bucketEntries)
		_, err2 := tx.CreateBucketIfNotExists(bucketMeta)
		return errors.Join(err1, err2)
	})
	s.counters.headFileBytes = fileBytes(path)
	return errors.Join(err, syncDir(s.dir))
}

// clearUnborn empties a file that a power cut left before bbolt had written its
// first four pages. No commit fits into those, so nothing is lost.
func clearUnborn(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.Size() == 0 || info.Size() > int64(4*os.Getpagesize()) {
		return err
	}
	db, err := openDB(path, readOptions())
	switch {
	case err == nil:
		return db.Close()
	case errors.Is(err, bolterrors.ErrTimeout):
		return ErrLocked
	case isSystemError(err):
		return err
	}
	return os.Truncate(path, 0)
}

// openChecked opens a file for writing after a look at all its pages. bbolt
// looks at them too, to find the free ones, but in a goroutine of its own,
// where a damaged page would end the process.
func openChecked(path string, mapBytes int64) (*bolt.DB, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 {
		db, err := openDB(path, readOptions())
		if err != nil {
			return nil, err
		}
		f := file{db: db}
		if err := errors.Join(f.view(visitPages), f.close()); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	return openDB(path, writeOptions(mapBytes))
}

// visitPages touches every key of a file.
func visitPages(tx *bolt.Tx) error {
	return tx.ForEach(func(_ []byte, b *bolt.Bucket) error { return visitBucket(b) })
}

func visitBucket(b *bolt.Bucket) error {
	return b.ForEach(func(k, v []byte) error {
		if v != nil {
			return nil
		}
		sub := b.Bucket(k)
		if sub == nil {
			return fmt.Errorf("%w: bucket %x is missing", errDamaged, k)
		}
		return visitBucket(sub)
	})
}

// partitionNames lists the partition files, oldest first, and removes those
// that were never finished.
func (s *Store) partitionNames() ([]string, error) {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		name := f.Name()
		if unfinished, ok := strings.CutSuffix(name, tmpSuffix); ok {
			if _, _, ok := parsePartName(unfinished); ok {
				if err := os.Remove(s.path(name)); err != nil {
					return nil, err
				}
			}
			continue
		}
		start, gen, ok := parsePartName(name)
		if !ok {
			continue
		}
		s.gens[start] = max(s.gens[start], gen)
		if !strings.HasSuffix(name, badSuffix) {
			names = append(names, name)
		}
	}
	return names, nil
}

// isSystemError tells a failure of the machine, such as too many open files,
// from bytes that make no sense: only the latter condemn a file.
func isSystemError(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) || errors.Is(err, bolterrors.ErrTimeout)
}

// openPartition opens a file for reading and takes its headers into memory. A
// damaged one is put aside.
func (s *Store) openPartition(name string, applied ranges) error {
	start, gen, _ := parsePartName(name)
	p := &partition{name: name, start: start, gen: gen, refs: 1}
	err := s.loadPartition(p, applied)
	if err == nil {
		s.addPartition(p)
		return nil
	}
	err = errors.Join(err, p.close())
	if isSystemError(err) || errors.Is(err, errNewer) {
		return fmt.Errorf("cannot open partition %s: %w", name, err)
	}
	s.counters.corrupt++
	s.log.Error("putting aside a damaged partition", "file", name, "as", name+badSuffix, "error", err)
	if err := os.Rename(s.path(name), s.path(name+badSuffix)); err != nil {
		return err
	}
	return syncDir(s.dir)
}

// loadPartition opens p and reads all but the blocks. What it adds to the store
// it adds at the end, when nothing can fail any more.
func (s *Store) loadPartition(p *partition, applied ranges) error {
	if info, err := os.Stat(s.path(p.name)); err != nil || info.Size() == 0 {
		// bbolt would take it for a new file, and fail to write to it.
		return errors.Join(err, errDamaged)
	}
	db, err := openDB(s.path(p.name), readOptions())
	if err != nil {
		return err
	}
	p.db = db
	p.bytes = fileBytes(s.path(p.name))
	var blocks [numSignals][]*blockRef
	notes := make(ranges)
	var lost uint64
	var badNotes int
	err = p.view(func(tx *bolt.Tx) error {
		info, err := readPartInfo(tx, p.start)
		if err != nil {
			return err
		}
		p.span = time.Duration(info.spanHours) * time.Hour
		for i, sig := range otlp.Signals {
			if blocks[i], err = readIndex(tx, p, sig); err != nil {
				return err
			}
			for _, b := range blocks[i] {
				p.totals[i].add(&b.header)
			}
			if want, got := info.totals[i].Blocks, uint64(len(blocks[i])); got < want {
				lost += want - got
			}
		}
		badNotes, err = notes.read(tx)
		return err
	})
	if err != nil {
		return err
	}
	if lost > 0 {
		s.counters.corrupt += lost
		s.log.Error("a partition has lost blocks", "file", p.name, "blocks", lost)
	}
	if badNotes > 0 {
		s.counters.corrupt += uint64(badNotes)
		s.log.Error("a partition has damaged notes of what was moved into it", "file", p.name, "notes", badNotes)
	}
	for i := range blocks {
		s.signals[i].blocks = append(s.signals[i].blocks, blocks[i]...)
	}
	applied.merge(notes)
	return nil
}

func readPartInfo(tx *bolt.Tx, start int64) (partInfo, error) {
	b := tx.Bucket(bucketPart)
	if b == nil {
		return partInfo{}, fmt.Errorf("%w: no bucket %q", errDamaged, bucketPart)
	}
	info, err := decodePartInfo(b.Get(keyValue))
	if err == nil && info.start != start {
		err = fmt.Errorf("%w: starts at hour %d, not as its name says", errDamaged, info.start)
	}
	return info, err
}

// readIndex reads the headers of one signal. Where the index is damaged the
// block's own header stands in; without that the block is left out.
func readIndex(tx *bolt.Tx, p *partition, sig otlp.Signal) ([]*blockRef, error) {
	index, blocks := tx.Bucket(bucketIndex(sig)), tx.Bucket(bucketBlocks(sig))
	if index == nil || blocks == nil {
		return nil, fmt.Errorf("%w: no buckets of %v", errDamaged, sig)
	}
	var refs []*blockRef
	err := index.ForEach(func(k, v []byte) error {
		id, err := numberOf(k)
		if err != nil {
			return err
		}
		h, err := decodeHeader(v)
		if errors.Is(err, errNewer) {
			return err
		}
		if err != nil || h.Signal != sig {
			b, err := block.Open(value(blocks, k))
			if err != nil || b.Signal != sig {
				return nil
			}
			h = b.Header
		}
		refs = append(refs, &blockRef{header: h, id: id, part: p})
		return nil
	})
	return refs, err
}

// orderBlocks sorts what the partitions brought by id, and finds the next ids.
func (s *Store) orderBlocks() {
	for i := range s.signals {
		st := &s.signals[i]
		slices.SortFunc(st.blocks, func(a, b *blockRef) int {
			if a.id < b.id {
				return -1
			}
			return 1
		})
		if n := len(st.blocks); n > 0 {
			st.nextBlock = st.blocks[n-1].id + 1
		}
	}
}

// openWritable reopens for writing the newest generation of each span that the
// head has entries for, and of the current one.
func (s *Store) openWritable() error {
	starts := map[int64]bool{s.startHour(s.opts.Now().UnixNano()): true}
	for i := range s.signals {
		for _, p := range s.signals[i].pieces {
			starts[p.start] = true
		}
	}
	for _, p := range s.parts {
		if !starts[p.start] || p.gen != s.gens[p.start] || p.span != s.opts.PartitionSpan || p.bytes >= s.tune.genBytes {
			continue
		}
		if err := p.close(); err != nil {
			return err
		}
		db, err := openChecked(s.path(p.name), s.tune.genBytes)
		if err != nil {
			// What can be read of it still can: the next run starts a generation.
			s.log.Error("cannot write to a partition any more", "file", p.name, "error", err)
			if db, err = openDB(s.path(p.name), readOptions()); err != nil {
				return err
			}
		} else {
			s.writable[p.start] = p
		}
		p.db = db
	}
	return nil
}
