package mechanisms

func pureLedger(label string, epsilon float64, releases int) (*Ledger, error) { return nil, nil }

func boundedRangeLedger(label string, epsilon float64, releases int) (*Ledger, error) {
	return nil, nil
}
