package rowfile

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/dpglm/dpglm/internal/check"
)

const (
	spillBytes  = 1 << 16 // of a bucket, that are written at once
	bucketBytes = 1 << 23 // of a bucket, that are read at once, unless there would be too many
)

// Pick copies the given rows, in that order, to a scratch file. It reads the file once from
// its beginning to its end, writes each row to one of many buckets, by its place in the
// order, and then sorts bucket by bucket: so it reads and writes each row twice, one after
// the other. Memory is 8 bytes for each row and some 16 MiB, or the root of the rows' size
// times 512 bytes where that is more.
func (f *File) Pick(ctx context.Context, order []int) (*File, error) {
	w, err := Scratch(Facts{Columns: f.Columns, Sparse: f.Sparse, Beside: f.Beside})
	if err != nil {
		return nil, err
	}
	if err := f.pick(ctx, w, order, nil); err != nil {
		w.Discard()
		return nil, err
	}
	return w.Reopen()
}

// PickTo is Pick to a file of a name, whose rows have these named numbers beside, in place of
// those of that name that they have here.
func (f *File) PickTo(ctx context.Context, path string, order []int, beside map[string][]float64) error {
	names := slices.Clone(f.Beside)
	for _, name := range slices.Sorted(maps.Keys(beside)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	w, err := Create(path, Facts{Columns: f.Columns, Sparse: f.Sparse, Beside: names})
	if err != nil {
		return err
	}
	if err := f.pick(ctx, w, order, beside); err != nil {
		w.Discard()
		return err
	}
	details := f.Details
	details.Schema, details.Records = nil, nil
	return w.Close(details)
}

// pick writes the given rows, with other numbers beside.
func (f *File) pick(ctx context.Context, w *Writer, order []int, beside map[string][]float64) error {
	s, err := f.spill(ctx, order)
	if err != nil {
		return err
	}
	defer discard(s.file)
	for b := range s.buckets {
		if err := check.Cancelled(ctx); err != nil {
			return err
		}
		if err := s.sort(w, b, min(s.rows, len(order)-b*s.rows), beside); err != nil {
			return err
		}
	}
	return nil
}

// spilled is a file of buckets: bucket b has the rows whose places are those from b·rows on.
type spilled struct {
	f       *File
	file    *os.File
	at      int64
	rows    int
	buckets []bucket
}

type bucket struct {
	open     []byte // what isn't written yet
	segments []segment
}

type segment struct {
	at   int64
	size int
	sum  uint32
}

func (f *File) spill(ctx context.Context, order []int) (*spilled, error) {
	size := float64(f.size()) / float64(f.Rows)
	each := math.Max(bucketBytes, math.Sqrt(size*float64(len(order))*spillBytes))
	s := &spilled{f: f, rows: max(1, int(each/size))}
	s.buckets = make([]bucket, (len(order)+s.rows-1)/s.rows)
	var err error
	if s.file, err = os.CreateTemp("", "dpglm-sort-*"); err != nil {
		return nil, err
	}
	if removable {
		os.Remove(s.file.Name())
	}
	if err := s.fill(ctx, order); err != nil {
		discard(s.file)
		return nil, err
	}
	return s, nil
}

// fill writes the rows to their buckets, in the order of the file.
func (s *spilled) fill(ctx context.Context, order []int) error {
	places := make([]int, len(order))
	for k := range places {
		places[k] = k
	}
	slices.SortFunc(places, func(a, b int) int { return order[a] - order[b] })
	r, c := s.f.Reader(), new(Chunk)
	for len(places) > 0 {
		if err := check.Cancelled(ctx); err != nil {
			return err
		}
		lo := order[places[0]]
		_, hi := s.f.Block(s.f.BlockAt(lo))
		if err := r.Read(c, lo, hi); err != nil {
			return err
		}
		for len(places) > 0 && order[places[0]] < hi {
			if err := s.add(c, order[places[0]]-lo, places[0]); err != nil {
				return err
			}
			places = places[1:]
		}
	}
	for b := range s.buckets {
		if err := s.write(&s.buckets[b]); err != nil {
			return err
		}
	}
	return nil
}

// add adds row i of a chunk to the bucket of its place.
func (s *spilled) add(c *Chunk, i, place int) error {
	b := &s.buckets[place/s.rows]
	b.open = binary.LittleEndian.AppendUint32(b.open, uint32(place%s.rows))
	if s.f.Sparse {
		b.open = binary.LittleEndian.AppendUint32(b.open, uint32(c.Indptr[i+1]-c.Indptr[i]))
		for _, j := range c.Indices[c.Indptr[i]:c.Indptr[i+1]] {
			b.open = binary.LittleEndian.AppendUint32(b.open, uint32(j))
		}
		b.open = appendFloats(b.open, c.Values[c.Indptr[i]:c.Indptr[i+1]])
	} else {
		b.open = appendFloats(b.open, c.Values[i*s.f.Columns:(i+1)*s.f.Columns])
	}
	b.open = binary.LittleEndian.AppendUint64(b.open, math.Float64bits(c.Labels[i]))
	for _, of := range c.Beside {
		b.open = binary.LittleEndian.AppendUint64(b.open, math.Float64bits(of[i]))
	}
	if len(b.open) < spillBytes {
		return nil
	}
	return s.write(b)
}

func (s *spilled) write(b *bucket) error {
	if _, err := s.file.WriteAt(b.open, s.at); err != nil {
		return err
	}
	b.segments = append(b.segments, segment{s.at, len(b.open), crc32.Checksum(b.open, checksum)})
	s.at += int64(len(b.open))
	b.open = b.open[:0]
	return nil
}

// sort writes the rows of bucket b, so many, in their order, with other numbers beside.
func (s *spilled) sort(w *Writer, b, rows int, beside map[string][]float64) error {
	var raw []byte
	of := &stored{s.file, "scratch file " + s.file.Name()}
	for _, g := range s.buckets[b].segments {
		part, err := of.read(nil, g.at, g.size)
		if err != nil {
			return err
		}
		if crc32.Checksum(part, checksum) != g.sum {
			return damaged(of.path, "segment", "must have its checksum: the file was damaged")
		}
		raw = append(raw, part...)
	}
	s.buckets[b] = bucket{}
	records := make([][]byte, rows)
	for len(raw) > 0 {
		place, size := binary.LittleEndian.Uint32(raw), 4+s.f.denseRow()
		if s.f.Sparse {
			size = 8 + 12*int(binary.LittleEndian.Uint32(raw[4:])) + 8*s.f.perRow()
		}
		records[place], raw = raw[4:size], raw[size:]
	}
	for k, record := range records {
		if err := s.append(w, record, beside, b*s.rows+k); err != nil {
			return err
		}
	}
	return nil
}

// append writes a row as add has it, with the numbers of its place beside.
func (s *spilled) append(w *Writer, record []byte, beside map[string][]float64, place int) error {
	entries := s.f.Columns
	var columns []int
	if s.f.Sparse {
		entries = int(binary.LittleEndian.Uint32(record))
		columns, record = make([]int, entries), record[4:]
		for k := range columns {
			columns[k] = int(binary.LittleEndian.Uint32(record[4*k:]))
		}
		record = record[4*entries:]
	}
	numbers := floats(nil, record)
	for k, name := range w.facts.Beside {
		if of := beside[name]; of != nil && k < len(s.f.Beside) {
			numbers[entries+1+k] = of[place]
		} else if of != nil {
			numbers = append(numbers, of[place])
		}
	}
	return w.Append(columns, numbers[:entries], numbers[entries], numbers[entries+1:]...)
}
