package answer

import (
	"fmt"
	"strconv"
	"strings"

	"sonde/query"
	"sonde/storage/otlp"
)

// severityNames are the ranges of four severity numbers each, from 1 on.
var severityNames = [...]string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}

// ParseSeverity reads a severity as a floor: a name in any case ("warn",
// "Warning", "err", "critical", "INFO2") or a number 1-24; "=WARN" means that
// range of four alone, "=WARN2" and "=14" that number alone. The error lists
// the levels.
func ParseSeverity(arg string) (query.SeverityRange, error) {
	s := strings.TrimSpace(arg)
	s, exact := strings.CutPrefix(s, "=")
	if !exact {
		s = strings.TrimPrefix(s, ">=")
	}
	s = strings.TrimSpace(s)

	number := uint8(0)
	one := false // a single number, not a range of four
	if n, err := strconv.ParseUint(s, 10, 8); err == nil {
		if n >= 1 && n <= 24 {
			number, one = uint8(n), true
		}
	} else {
		number = otlp.EffectiveSeverity(0, s)
		// INFO names the range that INFO1 opens; a digit names one number.
		one = s != "" && s[len(s)-1] >= '1' && s[len(s)-1] <= '4'
	}
	switch {
	case number == 0:
		return query.SeverityRange{}, fmt.Errorf("cannot read %s as a severity: accepted are %s "+
			"(that level and above), also INFO2 or a number 1-24, and =WARN for that level alone",
			echo(arg), strings.Join(severityNames[:], ", "))
	case !exact:
		return query.SeverityRange{Min: number, Max: 24}, nil
	case one:
		return query.SeverityRange{Min: number, Max: number}, nil
	}
	first := number - (number-1)%4
	return query.SeverityRange{Min: first, Max: first + 3}, nil
}

// severityName returns "INFO" or "WARN2" for 1-24, "-" for anything else.
func severityName(n uint8) string {
	if n < 1 || n > 24 {
		return "-"
	}
	name := severityNames[(n-1)/4]
	if step := (n - 1) % 4; step > 0 {
		name += strconv.Itoa(int(step) + 1)
	}
	return name
}

// severityLabel is the name of the effective severity, with the recorded text
// in parentheses only when that says something else.
func severityLabel(effective uint8, text string) string {
	name := severityName(effective)
	if text == "" || strings.EqualFold(text, name) {
		return name
	}
	if said := otlp.EffectiveSeverity(0, text); said > 0 && effective > 0 && (said-1)/4 == (effective-1)/4 {
		return name
	}
	return name + "(" + string(appendWord(nil, text, 32)) + ")"
}
