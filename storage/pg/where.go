package pg

import (
	"fmt"
	"strings"
)

// where is the condition of a list: what is asked for, and nothing of what is not.
//
//	where state = any($1) and strpos(lower(key), $2) > 0
type where struct {
	conditions []string
	args       []any
}

// and adds a condition, in which each ? stands for the next of args.
func (w *where) and(condition string, args ...any) {
	for _, arg := range args {
		w.args = append(w.args, arg)
		condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(w.args)), 1)
	}
	w.conditions = append(w.conditions, condition)
}

// sql is "" of no condition.
func (w *where) sql() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return "where " + strings.Join(w.conditions, " and ")
}
