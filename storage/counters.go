package storage

import (
	"encoding/binary"
	"fmt"
	"time"

	"sonde/storage/otlp"
)

// counters are what Stats shows and nothing else in the store knows. Store.mu
// protects them.
type counters struct {
	start         time.Time
	seq           uint64
	intake        [numSignals][2]Intake
	rates         [numSignals]rate
	corrupt       uint64
	commitTime    time.Duration
	commits       uint64
	headFileBytes int64
	commitError   string
	compactErrors [numSignals]string
}

func (c *counters) stored(sig otlp.Signal, rows uint64, nowNano int64) {
	c.rates[sig-1].add(rows, nowNano/int64(time.Second))
}

func (c *counters) committed(seq uint64, took time.Duration, headFileBytes int64) {
	c.seq = seq
	c.commits++
	c.commitTime += took
	c.headFileBytes = headFileBytes
	c.commitError = ""
}

func (c *counters) lastError() string {
	if c.commitError != "" {
		return c.commitError
	}
	for _, e := range c.compactErrors {
		if e != "" {
			return e
		}
	}
	return ""
}

// rateSeconds is how far back a rate looks.
const rateSeconds = 60

// rate is a ring of counts, one a second.
type rate struct {
	counts  [rateSeconds]uint64
	seconds [rateSeconds]int64 // the Unix second that each count is of
}

func (r *rate) add(n uint64, second int64) {
	i := uint64(second) % rateSeconds
	if r.seconds[i] != second {
		r.seconds[i], r.counts[i] = second, 0
	}
	r.counts[i] += n
}

// perSecond returns the mean over the last minute, the running second included.
func (r *rate) perSecond(now time.Time) float64 {
	sum, second := uint64(0), now.Unix()
	for i, n := range r.counts {
		if r.seconds[i] > second-rateSeconds && r.seconds[i] <= second {
			sum += n
		}
	}
	return float64(sum) / rateSeconds
}

// stateVersion is the version of the value in the bucket meta of head.db, drawn
// in FORMAT.md.
const stateVersion = 1

// encodeState returns what every commit writes beside its entries.
func (s *Store) encodeState(next, seq uint64) []byte {
	v := []byte{stateVersion, 0, 0, 0, 0, 0}
	v = binary.BigEndian.AppendUint64(v, next)
	v = binary.BigEndian.AppendUint64(v, seq)
	s.mu.Lock()
	for _, transports := range s.counters.intake {
		for _, in := range transports {
			v = binary.BigEndian.AppendUint64(v, in.Stored)
			v = binary.BigEndian.AppendUint64(v, in.Rejected)
			v = binary.BigEndian.AppendUint64(v, in.Refused)
		}
	}
	s.mu.Unlock()
	putChecksum(v)
	return v
}

// decodeState reads it back into the counters.
func (s *Store) decodeState(v []byte) (next, seq uint64, err error) {
	if err := checkValue(v, stateVersion); err != nil {
		return 0, 0, err
	}
	r := reader{b: v[6:]}
	next, seq = r.uint64(), r.uint64()
	var intake [numSignals][2]Intake
	for i := range intake {
		for t := range intake[i] {
			intake[i][t] = Intake{Stored: r.uint64(), Rejected: r.uint64(), Refused: r.uint64()}
		}
	}
	if r.failed {
		return 0, 0, fmt.Errorf("%w: state of %d bytes", errDamaged, len(v))
	}
	s.counters.intake = intake
	return next, seq, nil
}
