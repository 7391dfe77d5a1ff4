// Package estimates draws data of known truth and holds estimates against it: how near they come
// to the fit without privacy, and that none is worse than the constant.
//
// Read estimate_test.go first: it has the worlds that the others draw from. limit_test.go has real
// data, and says how near fits come to the exact ones where there is hardly any noise.
package estimates
