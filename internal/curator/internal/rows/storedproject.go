package rows

import (
	"cmp"
	"context"
	"sync"

	"github.com/dpglm/dpglm/internal/curator/internal/blocks"
	"github.com/dpglm/dpglm/internal/curator/internal/encoding"
	"github.com/dpglm/dpglm/internal/rowfile"
	"github.com/dpglm/dpglm/internal/sketch"
)

// projectStored is Project for rows in a file: it writes the images to a scratch file. Workers
// make them anew in each pass.
func projectStored(ctx context.Context, t *Table, phi Projection, bound float64) (*Table, error) {
	if t.Place.Elsewhere() {
		return projectElsewhere(t, phi, bound)
	}
	k, _ := phi.Dims()
	w, err := rowfile.Scratch(rowfile.Facts{Columns: k})
	if err != nil {
		return nil, err
	}
	if err := writeImages(ctx, t, w, phi, k); err != nil {
		w.Discard()
		return nil, err
	}
	f, err := w.Reopen()
	if err != nil {
		return nil, err
	}
	p, err := NewStored(ctx, f, encoding.NewIdentity(k, bound, t.Enc.Intercept))
	if err != nil {
		return nil, err
	}
	p.Persons, p.Layout = t.Persons, blocks.NewLayout(t.Len(), k, false, t.Persons)
	return p, nil
}

// writeImages projects part by part, and writes these in their order.
func writeImages(ctx context.Context, t *Table, w *rowfile.Writer, phi Projection, k int) error {
	file, first, err := t.Place.Source(ctx)
	if err != nil {
		return err
	}
	type projecting struct {
		Reading
		*Workspace
		images, labels []float64
	}
	n, most := len(t.Length), partRows(t, t.Layout.TileRows)
	errs := make([]error, (n+most-1)/most)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	fail := func(b int, err error) {
		if errs[b] = err; err != nil {
			stop()
		}
	}
	err = blocks.InOrder(ctx, len(errs), 1,
		func() *projecting {
			return &projecting{Reading: Reading{Reader: file.Reader(), first: first}, Workspace: t.Acquire()}
		},
		func(g *projecting) { t.Release(g.Workspace) },
		func(b int, g *projecting) {
			lo := b * most
			p, err := ReadPart(t, &g.Reading, lo, min(lo+most, n))
			if err != nil {
				fail(b, err)
				return
			}
			rows := len(p.Table.Length)
			g.images, g.labels = Room(g.images, rows*k), p.Labels
			for at := 0; at < rows; at += t.Layout.TileRows {
				tile := p.Table.Src.Tile(at, min(at+t.Layout.TileRows, rows), g.Buf)
				projected{p.Table, phi}.draw(g.Workspace, g.images[at*k:(at+tile.Rows)*k], tile, at)
			}
		},
		func(b int, g *projecting) {
			for i, y := range g.labels {
				if errs[b] == nil {
					fail(b, w.Append(nil, g.images[i*k:(i+1)*k], y))
				}
			}
		})
	return cmp.Or(append(errs, err)...)
}

// projectElsewhere is Project for rows that workers read, who project them in each pass.
func projectElsewhere(t *Table, phi Projection, bound float64) (*Table, error) {
	spec, ok := sketch.SpecOf(phi)
	if !ok {
		return nil, ErrNotAsked
	}
	p := &Table{Enc: EncodingAfter(t.Enc, []Step{{Bound: bound, Map: &spec}}), Persons: t.Persons, Workspaces: new(sync.Pool)}
	p.Place = t.Place.after(Step{Bound: bound, Map: &spec})
	p.Place.Sparse = false
	p.Layout = blocks.NewLayout(t.Len(), spec.K, false, t.Persons)
	return p, nil
}
