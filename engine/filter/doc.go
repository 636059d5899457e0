// Package filter is the filter language: one for every list, on screens and on
// the command line.
//
//	503 timeout              both words, anywhere in the row
//	"503 service"            two words side by side
//	queue:report.*           a glob: * is any text, ? is one character
//	state:retryable,running  one of them; state words may be cut short: state:ret
//	-queue:report.*          not that; - works on every term
//	try>2 age<=1d took>200ms a comparison: < <= > >=; : and = are "is"
//	due<60s last>2d          of an instant: less than 60 s ahead, more than 2 days ago
//	created>12:30            of an instant: a time today, a date, now-1h, yesterday
//	status:5xx size>40KB     digits left open; sizes with their unit
//	err:""  last:none        there is none
//	key:/_72\d+$/            a regular expression (RE2)
//	~blhrn                   these letters in this order
//	state:failed or try>2    all terms on one side of it, or all on the other
//
// Terms are joined by AND, which binds closer than or; there are no parentheses. Case never matters. A plain value of a name-like
// field is the whole value, one of a prose field (an error, a reason, a player's
// name) may stand anywhere in it. A backslash takes the next character as it
// is, and so do quotes with all they hold.
//
// [Parse] compiles a query once; [Filter.Match] then costs no allocation. What a
// clock, a date or an age means is settled at each Match, by the instant and
// the zone that it is given: a filter that stays on a screen moves on with time.
//
// Begin to read with parse.go, then lex.go (text to terms), ask.go (a value to a test) and question.go
// (a test at work). A [Schema] says what can be asked of one type of row and is made by engine/columns;
// a [Filter] is a query compiled against it. Both are never changed after they were made and may be
// used by several goroutines.
//
// Match runs over every row that a screen, a command or a selection looks at. It reads a row by the
// field's getter into a [Value], which is small enough for registers, and what a test needs was worked
// out by Parse.
package filter
