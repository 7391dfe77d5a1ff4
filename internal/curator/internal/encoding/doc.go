// Package encoding is how raw rows become bounded features, in public numbers.
//
// In come ranges, levels and bounds that were given (NewIdentity, NewAffine, NewSchema), and raw
// rows. Out go features within the bound (Encode), the checks and clamps of intake (AdmitRow,
// AdmitSparse), and weights in terms of raw rows, so that features needn't be stored (Fold,
// Unfold). An Encoding is a value that can be sent; Check is for who receives one.
//
// Read encoding.go first, then fold.go.
package encoding
