// Package smooth gives losses that a descent, or objective perturbation, can go by: kinks are
// rounded off, and what has no smoothness everywhere is continued linearly.
package smooth
