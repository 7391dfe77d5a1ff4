package kernel

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns n zeros between two pages that can't be read, next to the second
// one or the first.
func guarded(t *testing.T, n int, atEnd bool) []float64 {
	page := syscall.Getpagesize()
	size := (8*max(n, 1) + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { syscall.Munmap(b) })
	for _, outside := range [][]byte{b[:page], b[page+size:]} {
		if err := syscall.Mprotect(outside, syscall.PROT_NONE); err != nil {
			t.Skip(err)
		}
	}
	at := page
	if atEnd {
		at += size - 8*n
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&b[at])), n)
}

// guardedLengths are all of a few vectors, and those around the mostLength tested.
func guardedLengths() (lengths []int) {
	for cols := 1; cols < 42; cols++ {
		lengths = append(lengths, cols)
	}
	for cols := mostLength - 9; cols <= mostLength; cols++ {
		lengths = append(lengths, cols)
	}
	return lengths
}

// No operation reads or writes outside its arguments, whatever their sizes: a
// caller's matrix may end where its memory ends.
func TestNothingOutsideTheArguments(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	eachLevel(t, func(t *testing.T) {
		for _, cols := range guardedLengths() {
			t.Run("", func(t *testing.T) { // each gives its memory back
				for _, n := range []int{1, 2, 3, 4, 7, 8, 9, 17} {
					atEnd, stride := r.IntN(4) > 0, cols+r.IntN(2)*r.IntN(600)
					data := guarded(t, (n-1)*stride+cols, atEnd)
					w, z := guarded(t, cols, atEnd), guarded(t, n, atEnd)
					y, norm := guarded(t, n, atEnd), guarded(t, n, atEnd)
					Dots(z, data, stride, w)
					AddScaled(w, data, stride, z)
					LogisticSlopes(z, y)
					Clip(z, norm, 1)
					Exps(z)
					AddLogistic(guarded(t, cols+2, atEnd), data, stride, n, 8, w, norm, guarded(t, n, atEnd), guarded(t, 8, atEnd), 1, 1, 1)
					const many = 5
					DotsMany(guarded(t, many*n, atEnd), data, stride, guarded(t, many*cols, atEnd), cols)
					AddScaledMany(guarded(t, (many-1)*(cols+3)+cols, atEnd), cols+3, cols, data, stride, guarded(t, many*n, atEnd), n)
					m := NewMoments(cols)
					m.Sum = guarded(t, len(m.Sum), atEnd)
					m.AddRows(guarded(t, (n-1)*m.Stride+(cols+momentsWidth-1)/momentsWidth*momentsWidth, atEnd), n)
				}
			})
		}
	})
}
