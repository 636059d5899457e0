package page

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/part"
)

// Collections are what is collected, with how fast each comes to its end.
type Collections struct {
	Answer
	Name  string // of the one that is asked for; "" = all
	rows  []engine.CollectionRow
	paces map[string]*engine.Pace
	tries map[string]time.Time // when the last retry of each goes, by its name
}

// Any is Want where there may be a collection: each has had jobs in a queue of its own.
func (c *Collections) Any(v *View) engine.Query {
	if !c.Have && !slices.ContainsFunc(v.Queues, func(q engine.QueueRow) bool { _, ok := engine.CollectionOf(q.Name); return ok }) {
		return nil
	}
	return c.Want(v)
}

// Want is the question when it is due.
func (c *Collections) Want(v *View) engine.Query {
	return c.Ask(v, v.Seq, engine.CollectionsQuery{Name: c.Name})
}

// Got takes the answer; false when it is another question's.
func (c *Collections) Got(v *View, q engine.Query, a engine.Answer, err error) bool {
	var came engine.CollectionsAnswer
	if asked, ok := q.(engine.CollectionsQuery); !ok || asked.Name != c.Name {
		return false
	}
	if Receive[engine.CollectionsQuery](&c.Answer, v, q, a, err, &came); err != nil {
		return true
	}
	c.rows, c.tries = came.Collections, map[string]time.Time{}
	for _, j := range v.TryingAgain() {
		if name, ok := engine.CollectionOf(j.Queue); ok {
			c.tries[name] = engine.Latest(c.tries[name], engine.Latest(columns.NextAt(&j), j.Starts))
		}
	}
	for i := range c.rows {
		c.paceOf(&c.rows[i]).Ends(&c.rows[i], v.Now)
	}
	return true
}

// Rows are those of the last answer, the newest collection first.
func (c *Collections) Rows() []engine.CollectionRow { return c.rows }

// Open are those whose round is under way or comes, by what is done next.
func (c *Collections) Open(v *View) (open []*engine.CollectionRow) {
	for i := range c.rows {
		if c.rows[i].Result == "" {
			open = append(open, &c.rows[i])
		}
	}
	slices.SortStableFunc(open, func(a, b *engine.CollectionRow) int {
		x, y := c.Ends(v, a), c.Ends(v, b)
		if x.IsZero() != y.IsZero() {
			return Btoi(x.IsZero()) - Btoi(y.IsZero())
		}
		return x.Compare(y)
	})
	return open
}

func (c *Collections) paceOf(r *engine.CollectionRow) *engine.Pace {
	if c.paces == nil {
		c.paces = map[string]*engine.Pace{}
	}
	if c.paces[r.ID] == nil {
		c.paces[r.ID] = &engine.Pace{}
	}
	return c.paces[r.ID]
}

// Ends is when the round of a collection is done, by its pace when it was asked for and not before its last retry; zero =
// nobody knows, as while its jobs may not start.
func (c *Collections) Ends(v *View, r *engine.CollectionRow) time.Time {
	if c.Came.IsZero() || v.CollectionWord(r) != "RUNNING" {
		return time.Time{}
	}
	at := c.paceOf(r).Ends(r, c.Came)
	return human.Either(at.IsZero(), at, engine.Latest(at, c.tries[r.Name]))
}

// PaceText is how many players a collection lists in a minute; "" = nobody knows, or it stands.
func (c *Collections) PaceText(v *View, r *engine.CollectionRow) string {
	pace := c.paceOf(r).Players(r, c.Came)
	if pace == 0 || r.Result == "" && v.CollectionWord(r) != "RUNNING" {
		return ""
	}
	if pace *= 60; pace < 10 {
		return fmt.Sprintf("%.1f/min", pace)
	}
	return Count(int(math.Round(pace))) + "/min"
}

// CollectionWord is how a collection stands: one whose jobs may not start does not run.
func (d *Data) CollectionWord(r *engine.CollectionRow) string {
	word := columns.CollectionWord(r)
	if q, ok := d.Queue(engine.CollectionQueue(r.Name)); ok && q.Stand != "" && word == "RUNNING" {
		return string(q.Stand)
	}
	return word
}

// DoneText is when the round of a collection is done; part.None where nobody knows.
func (c *Collections) DoneText(v *View, r *engine.CollectionRow) string {
	switch at := c.Ends(v, r); {
	case r.Result != "":
		return v.Ago(r.Finished)
	case !at.After(v.Now):
		return part.None
	default:
		return v.Around(at)
	}
}

// CancelCollection cancels the round of a collection.
func CancelCollection(r *engine.CollectionRow) Effect {
	e := Do(engine.Command{Op: engine.OpCancel, Job: r.Job})
	e.Confirm = &Confirm{Question: "Cancel the collection " + r.Name + "?", Yes: "cancel it", Lines: []string{
		"It stands at " + part.Of(int64(r.Done()), int64(r.Players)) + " players.",
		"What is stored stays, and whoever collects the same again goes on with it."}}
	return e
}
