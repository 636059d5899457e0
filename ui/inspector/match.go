package inspector

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/farsight-console/farsight/engine"
	"github.com/farsight-console/farsight/engine/columns"
	"github.com/farsight-console/farsight/themes"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/part"
)

// fetched is the match that a job has stored, or whose timeline it has.
type fetched struct {
	page.Answer
	told *told
}

// told is what Riot's JSON tells of a match, as far as it is shown.
type told struct {
	Info struct {
		Start    int64  `json:"gameStartTimestamp"` // ms
		Duration int64  `json:"gameDuration"`       // s
		Mode     string `json:"gameMode"`
		Queue    int    `json:"queueId"`
		Seats    []seat `json:"participants"`
	} `json:"info"`
}

type seat struct {
	Name     string `json:"riotIdGameName"`
	Tag      string `json:"riotIdTagline"`
	Champion string `json:"championName"`
	Kills    int    `json:"kills"`
	Deaths   int    `json:"deaths"`
	Assists  int    `json:"assists"`
	Won      bool   `json:"win"`
	Remake   bool   `json:"gameEndedInEarlySurrender"` // nobody has won or lost
}

// want asks for the match once the job is done; nil = there is none, or it was asked for.
func (f *fetched) want(v *page.View, j *engine.JobRow) engine.Query {
	kind, id, _ := strings.Cut(j.Key, ":")
	if kind != "match" && kind != "timeline" || j.State != engine.Completed || f.Have || f.Err != nil || !f.Due(v, v.Seq) {
		return nil
	}
	return engine.PayloadQuery{Match: id}
}

func (f *fetched) got(v *page.View, q engine.Query, a engine.Answer, err error) {
	if _, ok := q.(engine.PayloadQuery); !ok || !f.Take(v, err) {
		return
	}
	payload, _ := a.(engine.Payload)
	f.told = &told{}
	if json.Unmarshal(payload.JSON, f.told) != nil {
		f.told = nil
	}
}

// rows is how many rows the players take, in two columns.
func (f *fetched) rows() int {
	if f.told == nil {
		return 0
	}
	return (len(f.told.Info.Seats) + 1) / 2
}

// section is the match on h rows: what was played, and who did how, account in bold.
func (f *fetched) section(v *page.View, w, h int, account string) part.Section {
	i := &f.told.Info
	row := engine.MatchRow{FetchedAt: v.Now, QueueID: i.Queue, Mode: i.Mode}
	s := part.Section{Title: "MATCH", Height: h, Note: page.Joined(v, columns.Mode(&row),
		columns.GameLength(time.Duration(i.Duration)*time.Second), "played "+v.Clock(time.UnixMilli(i.Start)))}
	wide, half := w/2, f.rows()
	for y := range min(half, h) {
		l := part.NewLine(v.Theme, w)
		for x, n := range [...]int{y, y + half} {
			if n < len(i.Seats) {
				i.Seats[n].drawPlayer(l.To(1+x*wide), wide-4, account)
			}
		}
		s.Rows = append(s.Rows, l.String())
	}
	return s
}

// drawPlayer writes a player on w cells: won, lost or neither, the champion, the name, the score.
func (p *seat) drawPlayer(l *part.Line, w int, account string) {
	const champion, score = 13, 9
	result := part.As(themes.Dim, "L")
	switch {
	case p.Remake:
		result = part.As(themes.Dim, "-")
	case p.Won:
		result = part.As(themes.OK, "W")
	}
	name := part.As(themes.Dim, p.Name)
	if p.Name+"#"+p.Tag == account {
		name.Token = themes.Figure
	}
	l.Field(result, 1, part.Words).Gap(1).Field(part.Plain(p.Champion), champion, part.Words).Gap(1).
		Field(name, max(w-champion-score-4, 0), part.Words).Gap(1).
		Field(part.Plain(strconv.Itoa(p.Kills)+"/"+strconv.Itoa(p.Deaths)+"/"+strconv.Itoa(p.Assists)), score, part.Number)
}
