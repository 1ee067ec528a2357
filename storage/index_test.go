package storage

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"sonde/storage/block"
	"sonde/storage/otlp"
)

// fillFields sets every field of a struct to a value of its own, so that a
// field that is added and not encoded is found.
func fillFields(t *testing.T, v reflect.Value, n *uint64) {
	t.Helper()
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillFields(t, v.Field(i), n)
		}
	case reflect.Array:
		for i := range v.Len() {
			fillFields(t, v.Index(i), n)
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(*n)
	default:
		t.Fatalf("no rule for a field of %v", v.Type())
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	var h block.Header
	var n uint64
	fillFields(t, reflect.ValueOf(&h).Elem(), &n)
	extreme := block.Header{Signal: otlp.Traces, MaxTime: math.MaxUint64, MaxDurationNano: math.MaxUint64, Rows: 1}
	for _, want := range []block.Header{h, extreme, {}} {
		v := encodeHeader(&want)
		got, err := decodeHeader(v)
		if err != nil || got != want {
			t.Errorf("decodeHeader(encodeHeader(%+v)) = %+v, %v", want, got, err)
		}
		for bit := range 8 * len(v) {
			v[bit/8] ^= 1 << (bit % 8)
			if _, err := decodeHeader(v); !errors.Is(err, errDamaged) {
				t.Errorf("decodeHeader with bit %d flipped = %v, want %v", bit, err, errDamaged)
			}
			v[bit/8] ^= 1 << (bit % 8)
		}
	}
}

func TestPartInfoRoundTrip(t *testing.T) {
	want := partInfo{start: -5, spanHours: 6}
	for i := range want.totals {
		want.totals[i] = totals{Blocks: uint64(i), Rows: uint64(i * 10), RawBytes: uint64(i * 100)}
	}
	v := encodePartInfo(&want)
	if got, err := decodePartInfo(v); err != nil || got != want {
		t.Errorf("decodePartInfo = %+v, %v, want %+v", got, err, want)
	}
	for n := range len(v) {
		if _, err := decodePartInfo(v[:n]); err == nil {
			t.Errorf("decodePartInfo of %d of %d bytes succeeded", n, len(v))
		}
	}
}

func TestPartNames(t *testing.T) {
	cases := []struct {
		name  string
		start int64
		gen   int
		ok    bool
	}{
		{"p-489000-1.db", 489000, 1, true},
		{"p--24-12.db", -24, 12, true},
		{"p-489000-1.db.bad", 489000, 1, true},
		{"p-489000-1.db.tmp", 0, 0, false},
		{"p-489000.db", 0, 0, false},
		{"p-+5-1.db", 0, 0, false},
		{"p-5-01.db", 0, 0, false},
		{"head.db", 0, 0, false},
		{"", 0, 0, false},
	}
	for _, c := range cases {
		start, gen, ok := parsePartName(c.name)
		if ok != c.ok || ok && (start != c.start || gen != c.gen) {
			t.Errorf("parsePartName(%q) = %d, %d, %v, want %d, %d, %v", c.name, start, gen, ok, c.start, c.gen, c.ok)
		}
	}
}

func TestStartHour(t *testing.T) {
	cases := []struct {
		span time.Duration
		at   string
		want string
	}{
		{24 * time.Hour, "2026-11-30T23:59:59Z", "2026-11-30T00:00:00Z"},
		{24 * time.Hour, "2026-12-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		{6 * time.Hour, "2026-11-30T17:59:59Z", "2026-11-30T12:00:00Z"},
		{time.Hour, "1969-12-31T22:30:00Z", "1969-12-31T22:00:00Z"},
		{24 * time.Hour, "1969-12-31T22:30:00Z", "1969-12-31T00:00:00Z"},
	}
	for _, c := range cases {
		s := &Store{opts: Options{PartitionSpan: c.span}}
		at, err1 := time.Parse(time.RFC3339, c.at)
		want, err2 := time.Parse(time.RFC3339, c.want)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if got := time.Unix(s.startHour(at.UnixNano())*3600, 0); !got.Equal(want) {
			t.Errorf("startHour(%s) with span %v = %v, want %v", c.at, c.span, got.UTC(), want)
		}
	}
}

func TestRate(t *testing.T) {
	var r rate
	start := time.Unix(1_700_000_000, 0)
	for i := range 120 { // 6 a second, then silence
		r.add(6, start.Unix()+int64(i))
	}
	cases := []struct {
		after time.Duration
		want  float64
	}{
		{119 * time.Second, 6},
		{119*time.Second + 30*time.Second, 3},
		{119*time.Second + 59*time.Second, 0.1},
		{119*time.Second + 60*time.Second, 0},
		{59 * time.Second, 0}, // the clock went back: what lies ahead is not now
	}
	for _, c := range cases {
		if got := r.perSecond(start.Add(c.after)); got != c.want {
			t.Errorf("perSecond after %v = %v, want %v", c.after, got, c.want)
		}
	}
}

func TestEntryRoundTripRefusesDamage(t *testing.T) {
	req := &otlp.Request{Signal: otlp.Logs, Payload: make([]byte, 500), ArrivalUnixNano: 7}
	packed := newPending(req, new([]byte))
	if packed.encoding != encodingS2 {
		t.Fatalf("encoding of 500 zeros = %d, want s2", packed.encoding)
	}
	v := appendEntry(nil, otlp.Logs, 99, []*pending{packed, {req: req, body: req.Payload}})
	for n := range len(v) {
		if _, err := decodeEntry(v[:n]); err == nil {
			t.Errorf("decodeEntry of %d of %d bytes succeeded", n, len(v))
		}
	}
	for i := range v {
		v[i] ^= 0x10
		if _, err := decodeEntry(v); err == nil {
			t.Errorf("decodeEntry with byte %d changed succeeded", i)
		}
		v[i] ^= 0x10
	}
	// Valid checksums do not make a valid entry.
	for _, cut := range []int{1, 20} {
		short := append([]byte(nil), v[:len(v)-cut]...)
		putChecksum(short)
		if _, err := decodeEntry(short); !errors.Is(err, errDamaged) {
			t.Errorf("decodeEntry without its last %d bytes = %v, want %v", cut, err, errDamaged)
		}
	}
}

func TestPiecesStayFew(t *testing.T) {
	req := func(n int) []*otlp.Request {
		return []*otlp.Request{{Signal: otlp.Logs, Payload: make([]byte, 100*n), Items: make([]otlp.Item, n)}}
	}
	for name, sizes := range map[string]func(i int) int{
		"of one row": func(int) int { return 1 },
		"falling":    func(i int) int { return 1 + (9000-i)/500 },
		"mixed":      func(i int) int { return 1 + i*7919%100 },
	} {
		var st signalState
		rows := 0
		for i := range 9000 {
			n := sizes(i)
			rows += n
			st.push(newPiece(entry{num: uint64(i + 1), sig: otlp.Logs, reqs: req(n)}, 0))
		}
		full := 2*rows/maxPieceRows + 1
		if got := len(st.pieces); got > full+14 {
			t.Errorf("%s: %d rows in %d pieces, want at most %d", name, rows, got, full+14)
		}
		got, next := 0, uint64(1)
		for _, p := range st.pieces {
			got += p.rows
			if p.first() != next || p.rows > maxPieceRows {
				t.Errorf("%s: piece of entries %d..%d with %d rows, want the first to be %d", name, p.first(), p.last(), p.rows, next)
			}
			next = p.last() + 1
		}
		if got != rows || st.headRows != rows {
			t.Errorf("%s: pieces have %d rows, the head says %d, want %d", name, got, st.headRows, rows)
		}
	}
}

// FuzzValues: what decodes says so for good, and comes out again as it was.
func FuzzValues(f *testing.F) {
	h := block.Header{Signal: otlp.Logs, Rows: 3, MinTime: 1, MaxTime: 9}
	h.Severities[17] = 3
	f.Add(encodeHeader(&h))
	f.Add(encodePartInfo(&partInfo{start: 5, spanHours: 24}))
	req := &otlp.Request{Signal: otlp.Logs, Payload: make([]byte, 50)}
	f.Add(appendEntry(nil, otlp.Logs, 9, []*pending{newPending(req, new([]byte))}))
	f.Fuzz(func(t *testing.T, v []byte) {
		if len(v) >= 6 {
			v = append([]byte(nil), v...)
			putChecksum(v) // or nothing would get past it
		}
		if h, err := decodeHeader(v); err == nil {
			if again, err := decodeHeader(encodeHeader(&h)); err != nil || again != h {
				t.Errorf("header %+v comes back as %+v, %v", h, again, err)
			}
		}
		if p, err := decodePartInfo(v); err == nil {
			if again, err := decodePartInfo(encodePartInfo(&p)); err != nil || again != p {
				t.Errorf("partition information %+v comes back as %+v, %v", p, again, err)
			}
		}
		if e, err := decodeEntry(v); err == nil {
			for _, r := range e.reqs {
				if len(r.Items) == 0 {
					t.Errorf("entry %x has a request without items", v)
				}
			}
		}
	})
}
