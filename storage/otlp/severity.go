package otlp

// longestSeverity is the length of the longest key of severities.
const longestSeverity = len("informational")

// severities gives each name that loggers use its severity number: the short
// names of the log data model, and what other systems say for them. Where its
// appendix B and the loggers that send OTLP disagree (critical), the loggers of
// Python, .NET and Windows win.
var severities = map[string]uint8{
	"trace": 1, "trc": 1, "verbose": 1, "finest": 1, "t": 1,
	"debug": 5, "dbg": 5, "fine": 5, "d": 5,
	"info": 9, "inf": 9, "information": 9, "informational": 9, "i": 9,
	"notice": 10,
	"warn":   13, "wrn": 13, "warning": 13, "w": 13,
	"error": 17, "err": 17, "severe": 17, "e": 17,
	"alert": 19,
	"fatal": 21, "ftl": 21, "critical": 21, "crit": 21, "f": 21,
	"panic": 21, "emerg": 21, "emergency": 21,

	"trace1": 1, "trace2": 2, "trace3": 3, "trace4": 4,
	"debug1": 5, "debug2": 6, "debug3": 7, "debug4": 8,
	"info1": 9, "info2": 10, "info3": 11, "info4": 12,
	"warn1": 13, "warn2": 14, "warn3": 15, "warn4": 16,
	"error1": 17, "error2": 18, "error3": 19, "error4": 20,
	"fatal1": 21, "fatal2": 22, "fatal3": 23, "fatal4": 24,
}

// EffectiveSeverity places a log record among the severity numbers 1-24: its
// number where that is in range, else what its text names in any case ("warn",
// "Warning", "err", "critical", "INFO2"), else 0.
func EffectiveSeverity(number int32, text string) uint8 {
	if number >= 1 && number <= 24 {
		return uint8(number)
	}
	var lower [longestSeverity]byte
	n := 0
	for i := range len(text) {
		c := text[i]
		switch {
		case c == ' ':
			continue // some loggers pad levels to one width
		case n == len(lower):
			return 0
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		lower[n] = c
		n++
	}
	return severities[string(lower[:n])]
}
