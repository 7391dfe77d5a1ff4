package task

// nearest is the name that s was most likely meant to be, from which it differs in few
// letters; empty if there is none.
func nearest(s string, names []string) string {
	best, found := 1+min(2, 2*len(s)/5), ""
	for _, n := range names {
		if d := distance(s, n); d < best {
			best, found = d, n
		}
	}
	return found
}

// distance is how many bytes to insert, remove or replace make b of a.
func distance(a, b string) int {
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		diagonal := last[0]
		last[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = last[j+1]
			last[j+1] = min(d, last[j]+1, last[j+1]+1)
		}
	}
	return last[len(b)]
}
