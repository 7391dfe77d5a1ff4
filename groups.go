package dpglm

// ForGroups returns the same budget for any group of up to the given number of rows, from 1
// to 2^30, such as those of one person: neighbours then differ in the values of that many rows. A plan
// holds its ledger's curve for groups against the budget, and the ledger's first line
// names them. Noise grows about as the rows of a group do. That nobody has more rows is
// for the caller to see to.
//
// # Privacy
//
// Replace-one, for groups of k: along a chain of k replacements a μ-GDP release is
// kμ-GDP, and an ε-DP one kε-DP. So for one row a plan takes the k-th part of μ or ε; for
// [ObjectivePerturbation] under an (ε, δ) budget, what its curve for groups allows. The
// ledger then proves the whole, see [mechanisms.Ledger.GroupDelta].
func (b Budget) ForGroups(rows int) Budget {
	b.group = rows
	return b
}

// beside is the budget of what runs on rows that other releases don't use. The rows of a
// group may lie in both parts, and together these must fit: so for groups each gets what
// composes with anything.
func (b Budget) beside() Budget {
	b.byMu = b.byMu || b.group > 1 && !b.pure
	return b
}
