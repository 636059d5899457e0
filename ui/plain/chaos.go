package plain

import (
	"cmp"
	"strings"

	"github.com/farsight-console/farsight/engine/human"
	"github.com/farsight-console/farsight/ui/chaos"
	"github.com/farsight-console/farsight/ui/page"
	"github.com/farsight-console/farsight/ui/screen/chaospanel"
)

// chaos breaks the simulated Riot of a demo, or says how all stands: "chaos 503 5%", "chaos off". A
// row with a question asks it first.
func (p *plain) chaos(arg string) {
	s := p.opt.Chaos.State()
	if arg == "" {
		p.printLines(chaosSentences(&s)...)
		return
	}
	if why := p.opt.Refuses(&p.rows.Data); why != "" {
		p.printLines("Refused: " + why + ".")
		return
	}
	ask, wrong := chaos.Parse(&s, arg)
	if wrong != "" {
		p.printLines("Refused: " + wrong + ".")
		return
	}
	// The panel of the screen asks the same questions: its effect tells them.
	e := chaospanel.InjectNamed(&s, ask)
	if e.Confirm != nil {
		p.printLines(e.Confirm.Question + " " + strings.Join(e.Confirm.Lines, " ") + " Type yes to go on.")
		if said, _ := p.answer(); !strings.HasPrefix(strings.ToLower(said), "y") {
			p.printLines("Nothing was done.")
			return
		}
	}
	said, err := p.opt.Chaos.Inject(p.ctx, ask)
	if err != nil {
		p.printLines("Refused: " + page.Sentence(err) + ".")
		return
	}
	p.printLines("Done: " + said + ".")
}

// chaosSentences say every row: what is injected, and what came of it. What did nothing yet says what
// it is.
//
//	503: 5 %, 12 hits; 12 jobs are tried again.
//	slow: off, 0 hits; each answer takes 2 s more.
func chaosSentences(s *chaos.State) []string {
	lines := make([]string, 0, len(s.Rows)+1)
	for i := range s.Rows {
		r := &s.Rows[i]
		told := human.Either(r.On, r.Told, "off")
		lines = append(lines, r.Name+": "+told+", "+human.Counted(r.Hits, "hit", "hits")+"; "+cmp.Or(r.Did, r.About)+".")
	}
	return append(lines, "Inject with chaos NAME, once or a rate, such as chaos 503 5%. chaos off ends all.")
}
