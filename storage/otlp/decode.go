package otlp

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// DecodeLog puts one LogRecord message under its envelopes: the answer holds
// exactly one resource, scope and record. The bytes are copied.
func DecodeLog(resource, scope, record []byte) (plog.Logs, error) { panic("not built yet") }

// DecodeSpan is DecodeLog for a Span message.
func DecodeSpan(resource, scope, span []byte) (ptrace.Traces, error) { panic("not built yet") }

// DecodePoint is DecodeLog for a data point message of the metric's type.
func DecodePoint(resource, scope, metric, point []byte) (pmetric.Metrics, error) {
	panic("not built yet")
}

// AppendText appends the text of a value as the data model renders it for
// people (common/README.md, "AnyValue representation for non-OTLP protocols"):
// strings as they are, bytes as base64, empty as nothing, numbers and bools in
// JSON's form with NaN, Infinity and -Infinity spelled so, arrays and maps as
// compact JSON without HTML escaping. Search and answers use this one form.
// On a repeated key of a map the first wins.
func AppendText(dst []byte, v pcommon.Value) []byte { panic("not built yet") }

// AppendJSON appends v as a JSON value: as AppendText, but strings (and bytes,
// NaN and the infinities) quoted and empty as null.
func AppendJSON(dst []byte, v pcommon.Value) []byte { panic("not built yet") }

// EffectiveSeverity places a log record among the severity numbers 1-24: its
// number where that is in range, else what its text names in any case ("warn",
// "Warning", "err", "critical", "INFO2"), else 0.
func EffectiveSeverity(number int32, text string) uint8 { panic("not built yet") }
