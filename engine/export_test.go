package engine

import "slices"

// CallStatuses lists the statuses of the table, in alphabetical order.
func CallStatuses() []CallStatus {
	var all []CallStatus
	for s := range callRules {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}
