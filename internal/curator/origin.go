package curator

import "github.com/dpglm/dpglm/internal/release"

// origin is what a model keeps of the data set that it was trained on: whom its
// answers belong to, and how queries are encoded and bounded. It holds no row.
type origin struct {
	rows     *release.Rows
	encoding Encoding
}

func (d *Data) origin() origin { return origin{d.rows, *d.table.Encoding()} }
