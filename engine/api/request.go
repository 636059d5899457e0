package api

import (
	"fmt"
	"strconv"

	"github.com/farsight-console/farsight/engine"
)

// Bounds of a page of rows.
const (
	usualPage = 100 // unless told
	maxPage   = 500
)

// Parameters that several routes have.
var (
	paramAfter    = Param{"after", "cursor: goes on behind it"}
	paramLimit    = Param{"limit", fmt.Sprintf("rows, 1 to %d; %d unless told", maxPage, usualPage)}
	paramPlatform = Param{"platform", "of the account, such as euw1"}
	paramIfRev    = Param{"if_rev", "revision of the job that was seen; another one is refused"}
	paramFilter   = Param{"filter", "in the filter language of `farsight help filter`; it may leave a page short, or empty with a next"}
	paramReason   = Param{"reason", "for the audit"}
)

// readInto reads a body that may be left out.
func readInto(r *Request, into any) error {
	if len(r.Body) == 0 {
		return nil
	}
	if err := strict(r.Body, into); err != nil {
		return unreadable("request", err)
	}
	return nil
}

// number reads a parameter that is a whole number from least to most; 0 where it is left out. fault says
// what is wrong with the text that stands there instead.
func number(r *Request, name string, least, most int, do, fault string) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, engine.Problemf(engine.ErrInvalid, do, fault, text)
	}
	return n, nil
}

// States of an engine that is ill, so that to start it again may help, and of one that cannot work now.
var (
	ill     = []engine.EngineState{engine.EngineBroken}
	unready = append(ill, engine.EngineOpening, engine.EngineStopping, engine.EngineNoKey)
)
